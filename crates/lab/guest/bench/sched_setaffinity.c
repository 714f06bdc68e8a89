// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: sched_setaffinity of a child to its current processors. Nothing to undo. */
#include "../child.h"

#define MASK_SIZE	1024
#define SIZE		1	/* c->state[]: bytes written by the kernel */

static int setup(struct cell *c)
{
	int ret = start_child(c);
	long size;

	if (ret)
		return ret;
	size = SYS(sched_getaffinity, c->state[CHILD], MASK_SIZE, slot_data(c));
	if (size < 0) {
		end_child(c);
		return size;
	}
	c->state[SIZE] = size;
	return 0;
}

OP(op, SYS(sched_setaffinity, c->state[CHILD], c->state[SIZE], slot_data(c)));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	memset(slot_data(c), 0, MASK_SIZE);
	ret = op(c, 0);
	if (ret != -EINVAL)
		return failed(c, "sched_setaffinity: wrong result", ret);
	ret = SYS(sched_getaffinity, c->state[CHILD], MASK_SIZE, slot_data(c));
	return ret < 0 ? ret : 0;
}

BENCH("sched_setaffinity", SCHEDULING, PROCESS, 14, "sched_setaffinity of a child, no change",
      .variants = VARIANTS({ "child" }),
      .setup = setup, .check = check, .op = op, .teardown = end_child);
