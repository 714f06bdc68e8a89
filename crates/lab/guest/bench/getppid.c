// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: getppid, which asks no module for anything: what any system call
 * costs at least. Nothing to undo.
 */
#include "slots.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(getppid);
}

/* 0 is right for init, and for a parent in another PID namespace. */
static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	return ret != SYS(getpid) ? 0 : failed(c, "getppid: wrong result", 0);
}

BENCH("getppid", FLOOR, BEYOND, 32, "getppid: the floor, a system call without hooks",
      .source = "LMbench lat_syscall null; getppid(2)", .variants = VARIANTS({ "null" }),
      .check = check, .op = op);
