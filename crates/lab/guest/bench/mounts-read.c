// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: open of /proc/self/mounts, read of its first page, and close. Nothing to undo. */
#include "slots.h"

static long op(struct cell *c, unsigned int i)
{
	long fd = sys_open("/proc/self/mounts", O_RDONLY | O_CLOEXEC, 0), len;

	if (fd < 0)
		return fd;
	len = sys_read(fd, slot_data(c), 4096);
	sys_close(fd);
	return len;
}

static int check(struct cell *c)
{
	const char *text = slot_data(c);
	long len = op(c, 0), i;

	if (len == -ENOENT)
		return unsupported(c, "no /proc here", len);
	if (len < 0)
		return len;
	/* Always mounted. */
	for (i = 0; i + 7 <= len; i++)
		if (!memcmp(text + i, " /proc ", 7))
			return 0;
	return failed(c, "mounts: no /proc among them", 0);
}

BENCH("mounts-read", ADMIN, ADMIN, 16, "the list of mounts, read",
      .source = "proc(5)", .syscalls = "open read close", .variants = VARIANTS({ "self" }),
      .check = check, .op = op);
