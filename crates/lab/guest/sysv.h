/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System V's queues, semaphores and shared memory: of a cell's own, under no key or one that
 * agents which run at a time do not share.
 */
#ifndef LSMETER_SYSV_H
#define LSMETER_SYSV_H

#include <linux/ipc.h>
#include "slots.h"

#define OBJECT	0	/* c->state[]: its identifier */
#define KEY	1	/* the key that it is made or found by */

#define EXISTING	1	/* arg of variants: what the key stands for is there */

/* For the calls that make an object: of `existing` the one that setup() made. */
static inline long object_key(struct cell *c)
{
	return c->variant->arg == EXISTING ? 0x6c730000 | (SYS(getpid) & 0xffff) : IPC_PRIVATE;
}

/* What becomes of the call that should have made it. */
static inline int keep_object(struct cell *c, long id)
{
	if (id == -ENOSYS)
		return unsupported(c, "this kernel has no IPC of System V", id);
	if (id == -ENOSPC)
		return unsupported(c, "no such object left", id);
	if (id == -EEXIST)
		return unsupported(c, "somebody else has such a key", id);
	if (id < 0)
		return id;
	c->state[OBJECT] = id;
	return 0;
}

/* The whole check() of a call that finds the one that setup() made. */
static inline int check_existing(struct cell *c, long id, const char *wrong)
{
	if (id < 0)
		return id;
	return id == c->state[OBJECT] ? 0 : failed(c, wrong, 0);
}

/* The whole check() of a call that makes one: it is there to be removed, and then no more. */
static inline int check_object(struct cell *c, long id, const char *wrong,
			       int (*undo)(struct cell *c, unsigned int i))
{
	int ret = keep_object(c, id);

	if (ret < 0)
		return ret;
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	return undo(c, 0) == -EINVAL ? 0 : failed(c, wrong, 0);
}

#endif
