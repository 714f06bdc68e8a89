// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: syslog that reads the size of the kernel log. Nothing to undo. */
#include "slots.h"

#define SIZE_BUFFER	10	/* SYSLOG_ACTION_SIZE_BUFFER of the kernel's own syslog.h */

OP(op, SYS(syslog, SIZE_BUFFER, NULL, 0));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EPERM || ret == -ENOSYS)
		return unsupported(c, "the kernel's log is not for this user", ret);
	if (ret < 0)
		return ret;
	return ret > 0 && SYS(syslog, 99, NULL, 0) == -EINVAL ? 0 :
	       failed(c, "syslog: wrong result", 0);
}

BENCH("syslog", ADMIN, ADMIN, 2, "syslog that reads the size of the kernel log",
      .variants = VARIANTS({ "size" }),
      .check = check, .op = op);
