// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: kexec_load of more segments than there may be: refused by a module that lets no kernel
 * be loaded, or for their number, which is looked at afterwards. Nothing to undo.
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

BENCH("kexec_load", ADMIN, ADMIN, 20, "kexec_load that is refused",
      .variants = VARIANTS({ "refused" }),
      .setup = setup, .check = check, .op = op);
