/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process's label from the first module that has one. */
#ifndef LSMETER_LABEL_H
#define LSMETER_LABEL_H

#include "slots.h"

#define LABEL_FILE	"/proc/self/attr/current"
#define LABEL_MAX	1024

/* Number of bytes, or -errno. */
static inline long read_label(char *label)
{
	long fd = sys_open(LABEL_FILE, O_RDONLY | O_CLOEXEC, 0), len;

	if (fd < 0)
		return fd;
	len = sys_read(fd, label, LABEL_MAX - 1);
	sys_close(fd);
	return len;
}

/* The same without AppArmor's suffix " (enforce)". */
static inline long own_label(char *label)
{
	long len = read_label(label), at;

	for (at = 0; at < len; at++)
		if (label[at] == '\n' || label[at] == ' ' || !label[at])
			len = at;
	if (len >= 0)
		label[len] = '\0';
	return len;
}

#endif
