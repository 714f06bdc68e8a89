// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: getpgid of a child. Nothing to undo. */
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(getpgid, c->state[CHILD]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	return ret == SYS(getpgid, 0) ? 0 : failed(c, "getpgid: wrong result", 0);
}

BENCH("getpgid", PROCESS, PROCESS, 11, "getpgid of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = check, .op = op, .teardown = end_child);
