// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: prlimit64 of a child that asks for its limit of open files. Nothing to undo. */
#include <linux/resource.h>
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(prlimit64, c->state[CHILD], RLIMIT_NOFILE, NULL, slot_data(c));
}

static int check(struct cell *c)
{
	u64 *got = (u64 *)slot_data(c), *own = got + 2;
	long ret = op(c, 0);

	if (ret >= 0)
		ret = SYS(getrlimit, RLIMIT_NOFILE, own);
	if (ret < 0)
		return ret;
	return memcmp(got, own, 2 * sizeof(u64)) ? failed(c, "prlimit64: wrong result", 0) : 0;
}

BENCH("prlimit64", SCHEDULING, PROCESS, 10, "a limit of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = check, .op = op, .teardown = end_child);
