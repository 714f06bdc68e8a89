// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: sched_getscheduler of a child. Nothing to undo. */
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(sched_getscheduler, c->state[CHILD]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	return ret == SYS(sched_getscheduler, 0) ? 0 : failed(c, "sched_getscheduler: wrong result", 0);
}

BENCH("sched_getscheduler", SCHEDULING, PROCESS, 16, "sched_getscheduler of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = check, .op = op, .teardown = end_child);
