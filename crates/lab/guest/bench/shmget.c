// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: shmget of a new segment of 4 KB. Undone outside: shmctl(IPC_RMID). `existing`: of
 * one that is there, found by its key; nothing to undo.
 */
#include <linux/shm.h>
#include "../sysv.h"

static int setup(struct cell *c)
{
	c->state[KEY] = object_key(c);
	if (c->variant->arg != EXISTING)
		return 0;
	return keep_object(c, SYS(shmget, c->state[KEY], PAGE_SIZE, IPC_CREAT | IPC_EXCL | 0600));
}

static long op(struct cell *c, unsigned int i)
{
	long id = SYS(shmget, c->state[KEY], PAGE_SIZE, 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int undo(struct cell *c, unsigned int i)
{
	if (c->variant->arg == EXISTING)
		return 0;
	return SYS(shmctl, *slot_fd(c, i), IPC_RMID, NULL);
}

static int check(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		return check_existing(c, op(c, 0), "shmget: wrong result");
	return check_object(c, op(c, 0), "shmget: wrong result", undo);
}

static void teardown(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		SYS(shmctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("shmget", IPC, IPC, 9, "shmget of a segment of System V's shared memory, new or there",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "4KB" }, { "existing", .arg = EXISTING }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
