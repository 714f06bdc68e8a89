// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: setgroups to the groups that the process has. Nothing to undo. */
#include "slots.h"

#define GROUPS_MAX	1024

static int setup(struct cell *c)
{
	long count = SYS(getgroups, GROUPS_MAX, slot_data(c));

	if (count < 0)
		return count;
	c->state[0] = count;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(setgroups, c->state[0], slot_data(c));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_SETGID", ret);
	if (ret < 0)
		return ret;
	return SYS(getgroups, 0, NULL) == c->state[0] ? 0 : failed(c, "setgroups: wrong result", 0);
}

BENCH("setgroups", CREDENTIALS, PROCESS, 5, "setgroups to the groups that the process has",
      .variants = VARIANTS({ "same" }),
      .setup = setup, .check = check, .op = op);
