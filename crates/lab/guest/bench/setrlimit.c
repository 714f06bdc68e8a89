// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/resource.h>
#include "../child.h"

/* Two words: the soft limit and the hard one. */
static u64 *limits(struct cell *c)
{
	return (u64 *)slot_data(c);
}

SETUP(setup, SYS(getrlimit, RLIMIT_CORE, limits(c)));

OP(setrlimit_op, SYS(setrlimit, RLIMIT_CORE, limits(c)));

static int setrlimit_check(struct cell *c)
{
	u64 *got = limits(c) + 2;
	long ret = setrlimit_op(c, 0);

	if (ret >= 0)
		ret = SYS(getrlimit, RLIMIT_CORE, got);
	return wrong_if(c, ret, memcmp(got, limits(c), 2 * sizeof(u64)), "setrlimit: wrong result") ?:
	       SYS(setrlimit, RLIM_NLIMITS, got) == -EINVAL ? 0 : failed(c, "setrlimit: wrong result", 0);
}

BENCH("setrlimit", SCHEDULING, PROCESS, 9, "setrlimit to the current limit",
      .variants = VARIANTS({ "RLIMIT_CORE" }),
      .setup = setup, .check = setrlimit_check, .op = setrlimit_op);

OP(prlimit64_op, SYS(prlimit64, c->state[CHILD], RLIMIT_NOFILE, NULL, slot_data(c)));

static int prlimit64_check(struct cell *c)
{
	u64 *got = (u64 *)slot_data(c), *own = got + 2;
	long ret = prlimit64_op(c, 0);

	if (ret >= 0)
		ret = SYS(getrlimit, RLIMIT_NOFILE, own);
	if (ret < 0)
		return ret;
	return memcmp(got, own, 2 * sizeof(u64)) ? failed(c, "prlimit64: wrong result", 0) : 0;
}

BENCH("prlimit64", SCHEDULING, PROCESS, 10, "a limit of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = prlimit64_check, .op = prlimit64_op, .teardown = end_child);
