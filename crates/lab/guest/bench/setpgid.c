// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: setpgid of a child to the group that it is in. Nothing to undo. */
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(setpgid, c->state[CHILD], c->state[CHILD]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	return SYS(getpgid, c->state[CHILD]) == c->state[CHILD] ? 0 :
	       failed(c, "setpgid: wrong result", 0);
}

BENCH("setpgid", PROCESS, PROCESS, 13, "setpgid of a child to the group that it is in",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = check, .op = op, .teardown = end_child);
