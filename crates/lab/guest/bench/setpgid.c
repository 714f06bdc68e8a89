// SPDX-License-Identifier: GPL-2.0-or-later
#include "../child.h"

/* Window: getpgid of a child. Nothing to undo. */
static long getpgid_op(struct cell *c, unsigned int i)
{
	return SYS(getpgid, c->state[CHILD]);
}

static int getpgid_check(struct cell *c)
{
	long ret = getpgid_op(c, 0);

	if (ret < 0)
		return ret;
	return ret == SYS(getpgid, 0) ? 0 : failed(c, "getpgid: wrong result", 0);
}

BENCH("getpgid", PROCESS, PROCESS, 11, "getpgid of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = getpgid_check, .op = getpgid_op, .teardown = end_child);

/* Window: getsid of a child. Nothing to undo. */
static long getsid_op(struct cell *c, unsigned int i)
{
	return SYS(getsid, c->state[CHILD]);
}

static int getsid_check(struct cell *c)
{
	long ret = getsid_op(c, 0);

	if (ret < 0)
		return ret;
	return ret == SYS(getsid, 0) ? 0 : failed(c, "getsid: wrong result", 0);
}

BENCH("getsid", PROCESS, PROCESS, 12, "getsid of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = getsid_check, .op = getsid_op, .teardown = end_child);

/* Window: setpgid of a child to the group that it is in. Nothing to undo. */
static long setpgid_op(struct cell *c, unsigned int i)
{
	return SYS(setpgid, c->state[CHILD], c->state[CHILD]);
}

static int setpgid_check(struct cell *c)
{
	long ret = setpgid_op(c, 0);

	if (ret < 0)
		return ret;
	return SYS(getpgid, c->state[CHILD]) == c->state[CHILD] ? 0 :
	       failed(c, "setpgid: wrong result", 0);
}

BENCH("setpgid", PROCESS, PROCESS, 13, "setpgid of a child to the group that it is in",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = setpgid_check, .op = setpgid_op, .teardown = end_child);
