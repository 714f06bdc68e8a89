// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: move_pages that queries the memory node of a child's page, and moves nothing. Nothing
 * to undo.
 */
#include "../child.h"

static int setup(struct cell *c)
{
	/* The child inherits it. */
	*slot_name(c, 0) = 'x';
	return start_child(c);
}

static long where(struct cell *c, const void *page)
{
	return SYS(move_pages, c->state[CHILD], 1, &page, NULL, slot_data(c), 0);
}

OP(op, where(c, slot_name(c, 0)));

static int check(struct cell *c)
{
	int *node = (int *)slot_data(c);
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no move_pages", ret);
	if (ret == -EPERM)
		return unsupported(c, "this machine forbids queries of a child's memory", ret);
	if (ret < 0)
		return ret;
	if (*node < 0)
		return failed(c, "move_pages: no node", *node);
	/* Nothing is mapped there. */
	ret = where(c, NULL);
	return !ret && *node < 0 ? 0 : failed(c, "move_pages: wrong result", 0);
}

BENCH("move_pages", PROCESS, PROCESS, 23, "move_pages that queries the node of a child's page",
      .variants = VARIANTS({ "child" }),
      .setup = setup, .check = check, .op = op, .teardown = end_child);
