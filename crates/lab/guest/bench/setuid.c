// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

#define GROUPS_MAX	1024

static int setuid_setup(struct cell *c)
{
	c->state[0] = SYS(getuid);
	return 0;
}

/* Window: setuid to the user that the process has. Nothing to undo. */
static long setuid_op(struct cell *c, unsigned int i)
{
	return SYS(setuid, c->state[0]);
}

static int setuid_check(struct cell *c)
{
	long ret = setuid_op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(getuid) != c->state[0] || SYS(setuid, -1) != -EINVAL)
		return failed(c, "setuid: wrong result", 0);
	return 0;
}

BENCH("setuid", CREDENTIALS, PROCESS, 3, "setuid to the user that the process has",
      .variants = VARIANTS({ "same" }),
      .setup = setuid_setup, .check = setuid_check, .op = setuid_op);

static int setgid_setup(struct cell *c)
{
	c->state[0] = SYS(getgid);
	return 0;
}

/* Window: setgid to the group that the process has. Nothing to undo. */
static long setgid_op(struct cell *c, unsigned int i)
{
	return SYS(setgid, c->state[0]);
}

static int setgid_check(struct cell *c)
{
	long ret = setgid_op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(getgid) != c->state[0] || SYS(setgid, -1) != -EINVAL)
		return failed(c, "setgid: wrong result", 0);
	return 0;
}

BENCH("setgid", CREDENTIALS, PROCESS, 4, "setgid to the group that the process has",
      .variants = VARIANTS({ "same" }),
      .setup = setgid_setup, .check = setgid_check, .op = setgid_op);

static int setgroups_setup(struct cell *c)
{
	long count = SYS(getgroups, GROUPS_MAX, slot_data(c));

	if (count < 0)
		return count;
	c->state[0] = count;
	return 0;
}

/* Window: setgroups to the groups that the process has. Nothing to undo. */
static long setgroups_op(struct cell *c, unsigned int i)
{
	return SYS(setgroups, c->state[0], slot_data(c));
}

static int setgroups_check(struct cell *c)
{
	long ret = setgroups_op(c, 0);

	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_SETGID", ret);
	if (ret < 0)
		return ret;
	return SYS(getgroups, 0, NULL) == c->state[0] ? 0 : failed(c, "setgroups: wrong result", 0);
}

BENCH("setgroups", CREDENTIALS, PROCESS, 5, "setgroups to the groups that the process has",
      .variants = VARIANTS({ "same" }),
      .setup = setgroups_setup, .check = setgroups_check, .op = setgroups_op);
