// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: ioprio_set of a child to no class of its own. Nothing to undo. */
#include <linux/ioprio.h>
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(ioprio_set, IOPRIO_WHO_PROCESS, c->state[CHILD], 0);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret == -ENOSYS ? unsupported(c, "this kernel has no ioprio_set", ret) : (int)ret;
	ret = SYS(ioprio_set, IOPRIO_WHO_PROCESS, c->state[CHILD], 0xffff);
	return ret == -EINVAL ? 0 : failed(c, "ioprio_set: wrong result", ret);
}

BENCH("ioprio_set", SCHEDULING, PROCESS, 18, "ioprio_set of a child to what it is",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = check, .op = op, .teardown = end_child);
