// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/msg.h>
#include <linux/sem.h>
#include <linux/shm.h>
#include "../sysv.h"

static int msgget_setup(struct cell *c)
{
	c->state[KEY] = object_key(c);
	if (c->variant->arg != EXISTING)
		return 0;
	return keep_object(c, SYS(msgget, c->state[KEY], IPC_CREAT | IPC_EXCL | 0600));
}

/*
 * Measured: msgget of a new queue. Undo: msgctl(IPC_RMID). `existing`: msgget of an existing
 * queue, by its key; nothing to undo.
 */
static long msgget_op(struct cell *c, unsigned int i)
{
	long id = SYS(msgget, c->state[KEY], 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int msgget_undo(struct cell *c, unsigned int i)
{
	if (c->variant->arg == EXISTING)
		return 0;
	return SYS(msgctl, *slot_fd(c, i), IPC_RMID, NULL);
}

static int msgget_check(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		return check_existing(c, msgget_op(c, 0), "msgget: wrong result");
	return check_object(c, msgget_op(c, 0), "msgget: wrong result", msgget_undo);
}

static void msgget_teardown(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		SYS(msgctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("msgget", IPC, IPC, 5, "msgget of a System V queue, new or existing",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "private" }, { "existing", .arg = EXISTING }),
      .setup = msgget_setup, .check = msgget_check, .op = msgget_op, .undo = msgget_undo,
      .teardown = msgget_teardown);

static int semget_setup(struct cell *c)
{
	c->state[KEY] = object_key(c);
	if (c->variant->arg != EXISTING)
		return 0;
	return keep_object(c, SYS(semget, c->state[KEY], 1, IPC_CREAT | IPC_EXCL | 0600));
}

/*
 * Measured: semget of a new set of one semaphore. Undo: semctl(IPC_RMID). `existing`: semget of an
 * existing set, by its key; nothing to undo.
 */
static long semget_op(struct cell *c, unsigned int i)
{
	long id = SYS(semget, c->state[KEY], 1, 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int semget_undo(struct cell *c, unsigned int i)
{
	if (c->variant->arg == EXISTING)
		return 0;
	return SYS(semctl, *slot_fd(c, i), 0, IPC_RMID, NULL);
}

static int semget_check(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		return check_existing(c, semget_op(c, 0), "semget: wrong result");
	return check_object(c, semget_op(c, 0), "semget: wrong result", semget_undo);
}

static void semget_teardown(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		SYS(semctl, c->state[OBJECT], 0, IPC_RMID, NULL);
}

BENCH("semget", IPC, IPC, 7, "semget of a System V semaphore, new or existing",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "private" }, { "existing", .arg = EXISTING }),
      .setup = semget_setup, .check = semget_check, .op = semget_op, .undo = semget_undo,
      .teardown = semget_teardown);

static int shmget_setup(struct cell *c)
{
	c->state[KEY] = object_key(c);
	if (c->variant->arg != EXISTING)
		return 0;
	return keep_object(c, SYS(shmget, c->state[KEY], PAGE_SIZE, IPC_CREAT | IPC_EXCL | 0600));
}

/*
 * Measured: shmget of a new 4 KB segment. Undo: shmctl(IPC_RMID). `existing`: shmget of an
 * existing segment, by its key; nothing to undo.
 */
static long shmget_op(struct cell *c, unsigned int i)
{
	long id = SYS(shmget, c->state[KEY], PAGE_SIZE, 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int shmget_undo(struct cell *c, unsigned int i)
{
	if (c->variant->arg == EXISTING)
		return 0;
	return SYS(shmctl, *slot_fd(c, i), IPC_RMID, NULL);
}

static int shmget_check(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		return check_existing(c, shmget_op(c, 0), "shmget: wrong result");
	return check_object(c, shmget_op(c, 0), "shmget: wrong result", shmget_undo);
}

static void shmget_teardown(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		SYS(shmctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("shmget", IPC, IPC, 9, "shmget of a System V shared memory segment, new or existing",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "4KB" }, { "existing", .arg = EXISTING }),
      .setup = shmget_setup, .check = shmget_check, .op = shmget_op, .undo = shmget_undo,
      .teardown = shmget_teardown);
