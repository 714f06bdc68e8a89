/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System V queues, semaphores and shared memory of one measurement, without a key or with one
 * unique among agents.
 */
#ifndef LSMETER_SYSV_H
#define LSMETER_SYSV_H

#include <linux/ipc.h>
#include "slots.h"

#define OBJECT	0	/* c->state[]: its identifier */
#define KEY	1	/* its key */

#define EXISTING	1	/* arg of variants: the key's object exists */

/* For calls that create an object: `existing` finds the one from setup(). */
static inline long object_key(struct cell *c)
{
	return c->variant->arg == EXISTING ? 0x6c730000 | (SYS(getpid) & 0xffff) : IPC_PRIVATE;
}

/* The outcome of the call that should create it. */
static inline int keep_object(struct cell *c, long id)
{
	if (id == -ENOSYS)
		return unsupported(c, "this kernel has no IPC of System V", id);
	if (id == -ENOSPC)
		return unsupported(c, "no such object left", id);
	if (id == -EEXIST)
		return unsupported(c, "the key is in use", id);
	if (id < 0)
		return id;
	c->state[OBJECT] = id;
	return 0;
}

/* The complete check() of a call that finds the object from setup(). */
static inline int check_existing(struct cell *c, long id, const char *wrong)
{
	if (id < 0)
		return id;
	return id == c->state[OBJECT] ? 0 : failed(c, wrong, 0);
}

/* The complete check() of a call that creates an object: it can be removed once. */
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
