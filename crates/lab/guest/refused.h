/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that the kernel refuses after it has asked modules. The refusal is what is measured. */
#ifndef LSMETER_REFUSED_H
#define LSMETER_REFUSED_H

#include <linux/capability.h>
#include "slots.h"

#define REFUSAL	0	/* c->state[]: the error that each call shall return */

static inline int has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return SYS(capget, &header, data) >= 0 &&
	       (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability));
}

/*
 * For setup(): ret is the answer to a first call, usual that of a kernel where no module objects.
 * Modules that do (lockdown, loadpin) say EPERM, or that a signature is missing. A policy says
 * EACCES and has it written down, which is not what is measured.
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

/* What op() returns: nothing but the same refusal will do. */
static inline long refused(struct cell *c, long ret)
{
	return ret == c->state[REFUSAL] ? 0 : ret < 0 ? ret : -EINVAL;
}

#endif
