/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A waiting child, for benchmarks that operate on another task; and one that exits. */
#ifndef LSMETER_CHILD_H
#define LSMETER_CHILD_H

#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/time.h>
#include "slots.h"

#define CHILD		0	/* c->state[]: its process */
#define SETTLE_NS	2000000	/* longer than the child needs to start waiting */

/* When this returns, the child is asleep, so it never runs in a measured region. */
static inline int start_child(struct cell *c)
{
	struct timespec time = { 0, SETTLE_NS };
	long pid = SYS(fork);

	if (pid == 0) {
		SYS(prctl, PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			SYS(pause);
	}
	if (pid == -ENOSYS)
		return unsupported(c, "it needs a second task, and in this kernel there is one", 0);
	if (pid < 0)
		return failed(c, "fork", pid);
	c->state[CHILD] = pid;
	SYS(nanosleep, &time, NULL);
	return 0;
}

static inline void end_child(struct cell *c)
{
	SYS(kill, c->state[CHILD], SIGKILL);
	SYS(wait4, c->state[CHILD], NULL, 0, 0);
}

/* Waits for a child that exits with `good` or with an error number. Returns 0 or the error. */
static inline long result_of_child(long pid, int good)
{
	int status = -1;

	if (pid < 0)
		return pid;
	pid = SYS(wait4, pid, &status, 0, NULL);
	if (pid < 0)
		return pid;
	if (status == good << 8)
		return 0;
	return status & 0xff ? -EIO : -(status >> 8 & 0xff);
}

#endif
