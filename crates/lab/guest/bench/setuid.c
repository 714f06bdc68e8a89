// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: setuid to the user that the process has. Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	c->state[0] = SYS(getuid);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(setuid, c->state[0]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(getuid) != c->state[0] || SYS(setuid, -1) != -EINVAL)
		return failed(c, "setuid: wrong result", 0);
	return 0;
}

BENCH("setuid", CREDENTIALS, PROCESS, 3, "setuid to the user that the process has",
      .variants = VARIANTS({ "same" }),
      .setup = setup, .check = check, .op = op);
