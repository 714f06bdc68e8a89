// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: futex(FUTEX_WAKE) for which nobody waits: no hook, a floor. Nothing to undo. */
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
	/* Who would wait for another value than that which is there does not wait. */
	ret = SYS(futex, slot_data(c), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
	return ret == -EAGAIN ? 0 : failed(c, "futex: wrong result", 0);
}

BENCH("futex", FLOOR, IPC, 19, "a wake for which nobody waits: no hook",
      .variants = VARIANTS({ "wake" }),
      .check = check, .op = op);
