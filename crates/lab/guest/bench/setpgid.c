// SPDX-License-Identifier: GPL-2.0-or-later
#include "../child.h"

OP(getpgid_op, SYS(getpgid, c->state[CHILD]));

static int getpgid_check(struct cell *c)
{
	long ret = getpgid_op(c, 0);

	return wrong_if(c, ret, ret != SYS(getpgid, 0), "getpgid: wrong result");
}

BENCH("getpgid", PROCESS, PROCESS, 11, "getpgid of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = getpgid_check, .op = getpgid_op, .teardown = end_child);

OP(getsid_op, SYS(getsid, c->state[CHILD]));

static int getsid_check(struct cell *c)
{
	long ret = getsid_op(c, 0);

	return wrong_if(c, ret, ret != SYS(getsid, 0), "getsid: wrong result");
}

BENCH("getsid", PROCESS, PROCESS, 12, "getsid of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = getsid_check, .op = getsid_op, .teardown = end_child);

OP(setpgid_op, SYS(setpgid, c->state[CHILD], c->state[CHILD]));

static int setpgid_check(struct cell *c)
{
	long ret = setpgid_op(c, 0);

	return wrong_if(c, ret, SYS(getpgid, c->state[CHILD]) != c->state[CHILD],
			"setpgid: wrong result");
}

BENCH("setpgid", PROCESS, PROCESS, 13, "setpgid of a child to its current group",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = setpgid_check, .op = setpgid_op, .teardown = end_child);
