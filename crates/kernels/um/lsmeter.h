/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the suite in the kernel shares with the rest of it. */
#ifndef _ASM_UM_LSMETER_H
#define _ASM_UM_LSMETER_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * While it is set, what copies from and to user space is given addresses of the
 * kernel, where the suite keeps its buffers and names, and copies them plainly.
 */
extern bool lsmeter_plain_copies;

#endif
