/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lsm_get_self_attr(2) and lsm_set_self_attr(2): include/uapi/linux/lsm.h, which may be missing
 * from the build machine.
 */
#ifndef LSMETER_SELF_ATTR_H
#define LSMETER_SELF_ATTR_H

#include "slots.h"

/* The same on all architectures, like all numbers since 424. */
#ifndef __NR_lsm_get_self_attr
#define __NR_lsm_get_self_attr	459
#define __NR_lsm_set_self_attr	460
#endif

#define ATTR_CURRENT	100
#define ID_APPARMOR	104
#define ATTR_MAX	4096	/* the kernel's limit in bytes */

struct self_attr {
	u64 id, flags, len, text_len;
	char text[];
};

/* Reads the attribute from all modules. Returns their number. */
static inline long get_self_attr(struct self_attr *to)
{
	u32 size = ATTR_MAX;

	return SYS(lsm_get_self_attr, ATTR_CURRENT, to, &size, 0);
}

#endif
