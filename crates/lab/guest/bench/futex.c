// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: futex(FUTEX_WAKE) without a waiter, which calls no hook and is a floor. Nothing to
 * undo.
 */
#include <linux/futex.h>
#include "slots.h"

OP(op, SYS(futex, slot_data(c), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no futex", ret);
	if (ret < 0)
		return ret;
	/* FUTEX_WAIT for a value that is not the current one returns at once. */
	ret = SYS(futex, slot_data(c), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
	return ret == -EAGAIN ? 0 : failed(c, "futex: wrong result", 0);
}

BENCH("futex", FLOOR, IPC, 19, "a wake without a waiter: no hook",
      .variants = VARIANTS({ "wake" }),
      .check = check, .op = op);
