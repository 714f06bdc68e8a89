// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/ioprio.h>
#include "../child.h"

OP(ioprio_get_op, SYS(ioprio_get, IOPRIO_WHO_PROCESS, c->state[CHILD]));

static int ioprio_get_check(struct cell *c)
{
	long ret = ioprio_get_op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no ioprio_get", ret);
	if (ret < 0)
		return ret;
	return ret == SYS(ioprio_get, IOPRIO_WHO_PROCESS, 0) ? 0 :
	       failed(c, "ioprio_get: wrong result", ret);
}

BENCH("ioprio_get", SCHEDULING, PROCESS, 19, "ioprio_get of a child",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = ioprio_get_check, .op = ioprio_get_op, .teardown = end_child);

OP(ioprio_set_op, SYS(ioprio_set, IOPRIO_WHO_PROCESS, c->state[CHILD], 0));

static int ioprio_set_check(struct cell *c)
{
	long ret = ioprio_set_op(c, 0);

	if (ret < 0)
		return ret == -ENOSYS ? unsupported(c, "this kernel has no ioprio_set", ret) : (int)ret;
	ret = SYS(ioprio_set, IOPRIO_WHO_PROCESS, c->state[CHILD], 0xffff);
	return ret == -EINVAL ? 0 : failed(c, "ioprio_set: wrong result", ret);
}

BENCH("ioprio_set", SCHEDULING, PROCESS, 18, "ioprio_set of a child, no change",
      .variants = VARIANTS({ "child" }),
      .setup = start_child, .check = ioprio_set_check, .op = ioprio_set_op, .teardown = end_child);
