// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: getppid, which calls no hook: the minimum cost of a system call. Nothing to undo. */
#include "slots.h"

OP(op, SYS(getppid));

/* 0 is correct for init, and if the parent is in another PID namespace. */
static int check(struct cell *c)
{
	long ret = op(c, 0);

	return wrong_if(c, ret, ret == SYS(getpid), "getppid: wrong result");
}

BENCH("getppid", FLOOR, BEYOND, 32, "getppid: the floor, a system call without hooks",
      .source = "LMbench lat_syscall null; getppid(2)", .variants = VARIANTS({ "null" }),
      .check = check, .op = op);
