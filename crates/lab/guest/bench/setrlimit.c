// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: setrlimit of the size of core files to what it is. Nothing to undo. */
#include <linux/resource.h>
#include "slots.h"

/* Two words: the soft limit and the hard one. */
static u64 *limits(struct cell *c)
{
	return (u64 *)slot_data(c);
}

static int setup(struct cell *c)
{
	return SYS(getrlimit, RLIMIT_CORE, limits(c));
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(setrlimit, RLIMIT_CORE, limits(c));
}

static int check(struct cell *c)
{
	u64 *got = limits(c) + 2;
	long ret = op(c, 0);

	if (ret >= 0)
		ret = SYS(getrlimit, RLIMIT_CORE, got);
	if (ret < 0)
		return ret;
	if (memcmp(got, limits(c), 2 * sizeof(u64)))
		return failed(c, "setrlimit: wrong result", 0);
	return SYS(setrlimit, RLIM_NLIMITS, got) == -EINVAL ? 0 : failed(c, "setrlimit: wrong result", 0);
}

BENCH("setrlimit", SCHEDULING, PROCESS, 9, "setrlimit to the limit that there is",
      .variants = VARIANTS({ "RLIMIT_CORE" }),
      .setup = setup, .check = check, .op = op);
