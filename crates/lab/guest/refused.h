/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that the kernel refuses after calling modules. The refusal is measured. */
#ifndef LSMETER_REFUSED_H
#define LSMETER_REFUSED_H

#include <linux/capability.h>
#include "slots.h"

#define REFUSAL	0	/* c->state[]: the expected error of each call */

static inline int has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return SYS(capget, &header, data) >= 0 &&
	       (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability));
}

/*
 * For setup(): ret is the result of a first call, usual the result if no module objects. Modules
 * that object (lockdown, loadpin) return EPERM, or an error for a missing signature. A policy
 * returns EACCES and has the denial logged, which is not the measured operation.
 */
static inline int keep_refusal(struct cell *c, long ret, long usual, int capability)
{
	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no such call", ret);
	if (!has_capability(capability))
		return unsupported(c, "it is not for this user", ret);
	if (ret == -EACCES)
		return unsupported(c, "the policy denies it", ret);
	if (ret != usual && ret != -EPERM && ret != -ENOKEY && ret != -EKEYREJECTED)
		return failed(c, "it is not refused as it should be", ret);
	c->state[REFUSAL] = ret;
	return 0;
}

/* The result of op(): only the same refusal is correct. */
static inline long refused(struct cell *c, long ret)
{
	return ret == c->state[REFUSAL] ? 0 : ret < 0 ? ret : -EINVAL;
}

#endif
