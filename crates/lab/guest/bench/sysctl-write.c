// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: open of a file of /proc/sys, a write of the value that it has,
 * and close. Nothing to undo.
 */
#include "../sysctl.h"

static long op(struct cell *c, unsigned int i)
{
	long fd = sys_open(PATH, O_WRONLY | O_CLOEXEC, 0), ret;

	if (fd < 0)
		return fd;
	ret = sys_write(fd, slot_data(c), c->state[VALUE_LEN]);
	sys_close(fd);
	return ret;
}

static int check(struct cell *c)
{
	return check_value(c, op(c, 0));
}

BENCH("sysctl-write", ADMIN, ADMIN, 4, "a setting of the kernel in /proc/sys, set to what it is",
      .source = "proc(5)", .syscalls = "open write close", .variants = VARIANTS({ "number" }),
      .setup = keep_value, .check = check, .op = op);
