// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: semctl(IPC_STAT) of a set of one semaphore. Nothing to undo. */
#include <linux/sem.h>
#include "../sysv.h"

#define MODE	0600

static int setup(struct cell *c)
{
	return keep_object(c, SYS(semget, IPC_PRIVATE, 1, MODE));
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(semctl, c->state[OBJECT], 0, IPC_STAT, slot_data(c));
}

static int check(struct cell *c)
{
	struct semid64_ds *stat = (struct semid64_ds *)slot_data(c);
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (stat->sem_nsems != 1 || (stat->sem_perm.mode & 0777) != MODE)
		return failed(c, "semctl: wrong result", 0);
	return SYS(semctl, -1, 0, IPC_STAT, slot_data(c)) == -EINVAL ? 0 :
	       failed(c, "semctl: wrong error", 0);
}

static void teardown(struct cell *c)
{
	SYS(semctl, c->state[OBJECT], 0, IPC_RMID, NULL);
}

BENCH("semctl", IPC, IPC, 29, "semctl(IPC_STAT) of a set of semaphores of System V",
      .variants = VARIANTS({ "IPC_STAT" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
