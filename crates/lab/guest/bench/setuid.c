// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

#define GROUPS_MAX	1024

static int setuid_setup(struct cell *c)
{
	c->state[0] = SYS(getuid);
	return 0;
}

OP(setuid_op, SYS(setuid, c->state[0]));

static int setuid_check(struct cell *c)
{
	long ret = setuid_op(c, 0);

	return wrong_if(c, ret, SYS(getuid) != c->state[0] || SYS(setuid, -1) != -EINVAL,
			"setuid: wrong result");
}

BENCH("setuid", CREDENTIALS, PROCESS, 3, "setuid to the current user",
      .variants = VARIANTS({ "same" }),
      .setup = setuid_setup, .check = setuid_check, .op = setuid_op);

static int setgid_setup(struct cell *c)
{
	c->state[0] = SYS(getgid);
	return 0;
}

OP(setgid_op, SYS(setgid, c->state[0]));

static int setgid_check(struct cell *c)
{
	long ret = setgid_op(c, 0);

	return wrong_if(c, ret, SYS(getgid) != c->state[0] || SYS(setgid, -1) != -EINVAL,
			"setgid: wrong result");
}

BENCH("setgid", CREDENTIALS, PROCESS, 4, "setgid to the current group",
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

OP(setgroups_op, SYS(setgroups, c->state[0], slot_data(c)));

static int setgroups_check(struct cell *c)
{
	long ret = setgroups_op(c, 0);

	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_SETGID", ret);
	return wrong_if(c, ret, SYS(getgroups, 0, NULL) != c->state[0], "setgroups: wrong result");
}

BENCH("setgroups", CREDENTIALS, PROCESS, 5, "setgroups to the current groups",
      .variants = VARIANTS({ "same" }),
      .setup = setgroups_setup, .check = setgroups_check, .op = setgroups_op);
