// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: semget of a new set of one semaphore. Undone outside: semctl(IPC_RMID). `existing`: of
 * one that is there, found by its key; nothing to undo.
 */
#include <linux/sem.h>
#include "../sysv.h"

static int setup(struct cell *c)
{
	c->state[KEY] = object_key(c);
	if (c->variant->arg != EXISTING)
		return 0;
	return keep_object(c, SYS(semget, c->state[KEY], 1, IPC_CREAT | IPC_EXCL | 0600));
}

static long op(struct cell *c, unsigned int i)
{
	long id = SYS(semget, c->state[KEY], 1, 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int undo(struct cell *c, unsigned int i)
{
	if (c->variant->arg == EXISTING)
		return 0;
	return SYS(semctl, *slot_fd(c, i), 0, IPC_RMID, NULL);
}

static int check(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		return check_existing(c, op(c, 0), "semget: wrong result");
	return check_object(c, op(c, 0), "semget: wrong result", undo);
}

static void teardown(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		SYS(semctl, c->state[OBJECT], 0, IPC_RMID, NULL);
}

BENCH("semget", IPC, IPC, 7, "semget of a semaphore of System V, new or there",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "private" }, { "existing", .arg = EXISTING }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
