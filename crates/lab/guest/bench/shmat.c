// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: shmat of a segment of 4 KB, which is not touched, and shmdt. Nothing to undo. */
#include <linux/shm.h>
#include "../sysv.h"

static int setup(struct cell *c)
{
	return keep_object(c, SYS(shmget, IPC_PRIVATE, PAGE_SIZE, 0600));
}

static long op(struct cell *c, unsigned int i)
{
	long at = SYS(shmat, c->state[OBJECT], NULL, 0);

	return at < 0 && at > -4096 ? at : SYS(shmdt, at);
}

static int check(struct cell *c)
{
	long at = SYS(shmat, c->state[OBJECT], NULL, 0), again;
	int same;

	if (at < 0 && at > -4096)
		return at;
	again = SYS(shmat, c->state[OBJECT], NULL, 0);
	if (again < 0 && again > -4096)
		return again;
	*(int *)at = 7;
	same = *(int *)again == 7;
	SYS(shmdt, at);
	SYS(shmdt, again);
	return same && SYS(shmdt, at) == -EINVAL ? 0 : failed(c, "shmat: wrong result", 0);
}

static void teardown(struct cell *c)
{
	SYS(shmctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("shmat", IPC, IPC, 10, "shmat and shmdt of a segment of System V's shared memory",
      .source = "shmop(2)", .syscalls = "shmat shmdt", .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
