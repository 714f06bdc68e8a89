/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of /proc/sys that benchmarks read, or write with its current value. */
#ifndef LSMETER_SYSCTL_H
#define LSMETER_SYSCTL_H

#include "slots.h"

#define PATH		"/proc/sys/kernel/threads-max"
#define VALUE_MAX	64
#define VALUE_LEN	0	/* c->state[]: bytes of the value */

static inline long read_value(char *value)
{
	long fd = sys_open(PATH, O_RDONLY | O_CLOEXEC, 0), len;

	if (fd < 0)
		return fd;
	len = sys_read(fd, value, VALUE_MAX);
	sys_close(fd);
	return len;
}

/* For setup(): stores the value in slot_data(). */
static inline int keep_value(struct cell *c)
{
	long len = read_value(slot_data(c));

	if (len < 0)
		return unsupported(c, "no " PATH " here", len);
	c->state[VALUE_LEN] = len;
	return 0;
}

/* For check(): an operation's result, and whether the value is unchanged. */
static inline int check_value(struct cell *c, long ret)
{
	char *again = slot_data(c) + VALUE_MAX;

	if (ret == -EACCES || ret == -EROFS || ret == -EPERM)
		return unsupported(c, PATH " is not for this user", ret);
	if (ret < 0)
		return ret;
	if (ret != c->state[VALUE_LEN] || read_value(again) != ret ||
	    memcmp(again, slot_data(c), ret))
		return failed(c, "sysctl: wrong value", 0);
	return 0;
}

#endif
