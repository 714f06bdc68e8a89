// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: semop that raises a semaphore, semop that lowers it again. Nothing to undo. */
#include <linux/sem.h>
#include "../sysv.h"

static int setup(struct cell *c)
{
	return keep_object(c, SYS(semget, IPC_PRIVATE, 1, 0600));
}

static long op(struct cell *c, unsigned int i)
{
	struct sembuf up = { .sem_op = 1 }, down = { .sem_op = -1 };
	long ret = SYS(semop, c->state[OBJECT], &up, 1);

	return ret < 0 ? ret : SYS(semop, c->state[OBJECT], &down, 1);
}

static int check(struct cell *c)
{
	struct sembuf up = { .sem_op = 1 }, down = { .sem_op = -1, .sem_flg = IPC_NOWAIT };
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(semop, c->state[OBJECT], &down, 1) != -EAGAIN ||
	    SYS(semop, c->state[OBJECT], &up, 1) || SYS(semop, c->state[OBJECT], &down, 1))
		return failed(c, "semop: wrong result", 0);
	return 0;
}

static void teardown(struct cell *c)
{
	SYS(semctl, c->state[OBJECT], 0, IPC_RMID, NULL);
}

BENCH("semop", MESSAGE, IPC, 8, "a semaphore of System V, raised and lowered",
      .source = "LMbench lat_sem, without a switch of tasks; semop(2)", .syscalls = "semop semop",
      .variants = VARIANTS({ "up-down" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
