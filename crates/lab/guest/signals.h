/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A blocked signal that the process sends to itself and accepts with rt_sigtimedwait. */
#ifndef LSMETER_SIGNALS_H
#define LSMETER_SIGNALS_H

#include <asm/siginfo.h>
#include "child.h"

#define BLOCKED		SIGUSR2
#define SELF		CHILD	/* c->state[]: the process itself */

static inline u64 *signal_mask(struct cell *c)
{
	return (u64 *)slot_name(c, 0);
}

static inline int block_signal(struct cell *c)
{
	c->state[SELF] = SYS(getpid);
	*signal_mask(c) = 1ull << (BLOCKED - 1);
	return SYS(rt_sigprocmask, SIG_BLOCK, signal_mask(c), NULL, sizeof(u64));
}

static inline long take_signal(struct cell *c)
{
	return SYS(rt_sigtimedwait, signal_mask(c), slot_data(c), NULL, sizeof(u64));
}

/* The signal accepted by take_signal(). */
static inline const siginfo_t *taken(struct cell *c)
{
	return (const siginfo_t *)slot_data(c);
}

static inline void unblock_signal(struct cell *c)
{
	SYS(rt_sigprocmask, SIG_UNBLOCK, signal_mask(c), NULL, sizeof(u64));
}

#endif
