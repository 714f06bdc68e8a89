// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: setpriority of a child to its current priority. Nothing to undo. */
#include <linux/resource.h>
#include "../child.h"

#define NICE	1	/* c->state[]: of the child, from -20 to 19 */

static int setup(struct cell *c)
{
	int ret = start_child(c);

	/* The raw call returns 20 - nice, which is never negative. */
	if (!ret)
		c->state[NICE] = 20 - SYS(getpriority, PRIO_PROCESS, c->state[CHILD]);
	return ret;
}

OP(op, SYS(setpriority, PRIO_PROCESS, c->state[CHILD], c->state[NICE]));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	ret = SYS(getpriority, PRIO_PROCESS, c->state[CHILD]);
	return ret == 20 - c->state[NICE] ? 0 : failed(c, "setpriority: wrong result", ret);
}

BENCH("setpriority", SCHEDULING, PROCESS, 17, "setpriority of a child, no change",
      .variants = VARIANTS({ "child" }),
      .setup = setup, .check = check, .op = op, .teardown = end_child);
