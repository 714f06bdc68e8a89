// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: setgid to the group that the process has. Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	c->state[0] = SYS(getgid);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(setgid, c->state[0]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(getgid) != c->state[0] || SYS(setgid, -1) != -EINVAL)
		return failed(c, "setgid: wrong result", 0);
	return 0;
}

BENCH("setgid", CREDENTIALS, PROCESS, 4, "setgid to the group that the process has",
      .variants = VARIANTS({ "same" }),
      .setup = setup, .check = check, .op = op);
