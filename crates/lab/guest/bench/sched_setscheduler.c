// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/sched.h>
#include "../child.h"

OP(sched_getscheduler_op, SYS(sched_getscheduler, c->state[CHILD]));

static int sched_getscheduler_check(struct cell *c)
{
	long ret = sched_getscheduler_op(c, 0);

	return wrong_if(c, ret, ret != SYS(sched_getscheduler, 0),
			"sched_getscheduler: wrong result");
}

BENCH("sched_getscheduler", SCHEDULING, PROCESS, 16, "sched_getscheduler of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = sched_getscheduler_check, .op = sched_getscheduler_op,
      .teardown = end_child);

OP(sched_setscheduler_op, SYS(sched_setscheduler, c->state[CHILD], c->variant->arg, slot_data(c)));

static int sched_setscheduler_check(struct cell *c)
{
	long ret = sched_setscheduler_op(c, 0);

	if (ret < 0)
		return ret;
	ret = SYS(sched_getscheduler, c->state[CHILD]);
	return ret == c->variant->arg ? 0 : failed(c, "sched_setscheduler: wrong result", ret);
}

BENCH("sched_setscheduler", SCHEDULING, PROCESS, 15, "sched_setscheduler of a child, no change",
      .variants = VARIANTS({ "SCHED_OTHER", .arg = SCHED_NORMAL }),
      .setup = start_child, .check = sched_setscheduler_check, .op = sched_setscheduler_op,
      .teardown = end_child);
