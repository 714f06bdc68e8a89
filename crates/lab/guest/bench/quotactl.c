// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: quotactl(Q_SYNC) of all file systems. Nothing to undo. */
#include <linux/quota.h>
#include "slots.h"

#define COMMAND(command, type)	((command) << SUBCMDSHIFT | ((type) & SUBCMDMASK))
#define NO_TYPE			9

OP(op, SYS(quotactl, COMMAND(Q_SYNC, USRQUOTA), NULL, 0, NULL));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no quotas", ret);
	return wrong_if(c, ret, SYS(quotactl, COMMAND(Q_SYNC, NO_TYPE), NULL, 0, NULL) != -EINVAL,
			"quotactl: wrong result");
}

BENCH("quotactl", ADMIN, ADMIN, 15, "quotactl(Q_SYNC) without quotas",
      .variants = VARIANTS({ "Q_SYNC" }),
      .check = check, .op = op);
