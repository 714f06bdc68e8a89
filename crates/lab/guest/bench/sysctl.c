// SPDX-License-Identifier: GPL-2.0-or-later
#include "../sysctl.h"

OP(sysctl_read_op, read_value(slot_data(c)));

SETUP(sysctl_read_check, check_value(c, sysctl_read_op(c, 0)));

BENCH("sysctl-read", ADMIN, ADMIN, 3, "read of a sysctl in /proc/sys",
      .source = "proc(5)", .syscalls = "open read close", .variants = VARIANTS({ "number" }),
      .setup = keep_value, .check = sysctl_read_check, .op = sysctl_read_op);

/*
 * Measured: open of a file in /proc/sys, a write of its current value, and close. Nothing to undo.
 */
static long sysctl_write_op(struct cell *c, unsigned int i)
{
	long fd = sys_open(PATH, O_WRONLY | O_CLOEXEC, 0), ret;

	if (fd < 0)
		return fd;
	ret = sys_write(fd, slot_data(c), c->state[VALUE_LEN]);
	sys_close(fd);
	return ret;
}

SETUP(sysctl_write_check, check_value(c, sysctl_write_op(c, 0)));

BENCH("sysctl-write", ADMIN, ADMIN, 4, "write of a sysctl's current value in /proc/sys",
      .source = "proc(5)", .syscalls = "open write close", .variants = VARIANTS({ "number" }),
      .setup = keep_value, .check = sysctl_write_check, .op = sysctl_write_op);
