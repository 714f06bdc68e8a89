// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: open of a file of /proc/sys, a read of its value, and close. Nothing to undo.
 */
#include "../sysctl.h"

static long op(struct cell *c, unsigned int i)
{
	return read_value(slot_data(c));
}

static int check(struct cell *c)
{
	return check_value(c, op(c, 0));
}

BENCH("sysctl-read", ADMIN, ADMIN, 3, "a setting of the kernel in /proc/sys, read",
      .source = "proc(5)", .syscalls = "open read close", .variants = VARIANTS({ "number" }),
      .setup = keep_value, .check = check, .op = op);
