// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: process_vm_readv of a child's memory. Nothing to undo. */
#include <linux/uio.h>
#include "../child.h"

#define BYTES	1024

static int setup(struct cell *c)
{
	/* The child has its own copy of it. */
	*slot_name(c, 0) = 'x';
	return start_child(c);
}

static long op(struct cell *c, unsigned int i)
{
	struct iovec into = { slot_data(c), BYTES }, from = { slot_name(c, 0), BYTES };

	return SYS(process_vm_readv, c->state[CHILD], &into, 1, &from, 1, 0);
}

static int check(struct cell *c)
{
	long ret;

	*slot_name(c, 0) = 'y';
	ret = op(c, 0);
	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no process_vm_readv", ret);
	if (ret == -EPERM)
		return unsupported(c, "this machine forbids reading a child", ret);
	return wrong_if(c, ret, ret != BYTES || *slot_data(c) != 'x',
			"process_vm_readv: wrong result");
}

BENCH("process_vm_readv", TRACE, IPC, 22, "process_vm_readv of 1 KB from a child",
      .variants = VARIANTS({ "1KB" }),
      .setup = setup, .check = check, .op = op, .teardown = end_child);
