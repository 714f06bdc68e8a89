// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: sched_setscheduler of a child to the usual policy, which it has. Nothing to undo. */
#include <linux/sched.h>
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(sched_setscheduler, c->state[CHILD], c->variant->arg, slot_data(c));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	ret = SYS(sched_getscheduler, c->state[CHILD]);
	return ret == c->variant->arg ? 0 : failed(c, "sched_setscheduler: wrong result", ret);
}

BENCH("sched_setscheduler", SCHEDULING, PROCESS, 15, "sched_setscheduler of a child to what it is",
      .variants = VARIANTS({ "SCHED_OTHER", .arg = SCHED_NORMAL }),
      .setup = start_child, .check = check, .op = op, .teardown = end_child);
