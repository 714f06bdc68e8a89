/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changes more of a machine than benchmarks may of one that is not theirs. */
#ifndef LSMETER_VM_ONLY_H
#define LSMETER_VM_ONLY_H

#include "slots.h"

/* For setup(): in a VM the agent is its first process. */
static inline int vm_only(struct cell *c, const char *why)
{
	return SYS(getpid) == 1 ? 0 : unsupported(c, why, 0);
}

#endif
