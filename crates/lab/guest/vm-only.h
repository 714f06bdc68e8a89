/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For benchmarks that change too much on a machine that is not lsmeter's own. */
#ifndef LSMETER_VM_ONLY_H
#define LSMETER_VM_ONLY_H

#include "slots.h"

/* For setup(): in a VM the agent is the first process. */
static inline int vm_only(struct cell *c, const char *why)
{
	return SYS(getpid) == 1 ? 0 : unsupported(c, why, 0);
}

#endif
