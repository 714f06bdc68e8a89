// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: prctl that reads a value, or sets the current one. Nothing to undo. */
#include <linux/prctl.h>
#include "slots.h"

OP(op, SYS(prctl, c->variant->arg, 0, 0, 0, 0));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	/* There is no such option. */
	return SYS(prctl, 0x7fffffff, 0, 0, 0, 0) == -EINVAL ? 0 : failed(c, "prctl: wrong result", 0);
}

BENCH("prctl", CREDENTIALS, PROCESS, 8, "prctl that reads a value, or sets the current one",
      .variants = VARIANTS({ "PR_GET_DUMPABLE", .arg = PR_GET_DUMPABLE },
			   { "PR_SET_KEEPCAPS", .arg = PR_SET_KEEPCAPS },
			   { "PR_CAPBSET_READ", .arg = PR_CAPBSET_READ }),
      .check = check, .op = op);
