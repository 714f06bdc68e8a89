// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: kexec_load with too many segments, which is refused by a module that forbids kexec, or
 * because of the number of segments, which is checked later. Nothing to undo.
 */
#include <linux/kexec.h>
#include "refused.h"

static long load(void)
{
	return SYS(kexec_load, 0, KEXEC_SEGMENT_MAX + 1, NULL, KEXEC_ARCH_DEFAULT);
}

SETUP(setup, keep_refusal(c, load(), -EINVAL, CAP_SYS_BOOT));

OP(op, refused(c, load()));

SETUP(check, op(c, 0));

BENCH("kexec_load", ADMIN, ADMIN, 20, "a refused kexec_load",
      .variants = VARIANTS({ "refused" }),
      .setup = setup, .check = check, .op = op);
