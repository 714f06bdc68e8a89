// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: ioprio_get of a child. Nothing to undo. */
#include <linux/ioprio.h>
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(ioprio_get, IOPRIO_WHO_PROCESS, c->state[CHILD]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no ioprio_get", ret);
	if (ret < 0)
		return ret;
	return ret == SYS(ioprio_get, IOPRIO_WHO_PROCESS, 0) ? 0 :
	       failed(c, "ioprio_get: wrong result", ret);
}

BENCH("ioprio_get", SCHEDULING, PROCESS, 19, "ioprio_get of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = check, .op = op, .teardown = end_child);
