// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: ioperm for one I/O port, the harmless POST port. Undo: the port is released. */
#include "slots.h"

static long permit(int on)
{
	return SYS(ioperm, 0x80, 1, on);
}

OP(op, permit(1));

SLOT(undo, permit(0));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no ioperm", ret);
	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_SYS_RAWIO, and no lockdown", ret);
	if (ret < 0)
		return ret;
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	/* No such ports exist. */
	return SYS(ioperm, 0x10000, 1, 1) == -EINVAL ? 0 : failed(c, "ioperm: wrong result", 0);
}

BENCH("ioperm", ADMIN, PROCESS, 27, "ioperm for one port",
      .max_batch = 1, .variants = VARIANTS({ "one-port" }),
      .check = check, .op = op, .undo = undo);
