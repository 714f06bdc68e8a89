// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: shmctl(IPC_STAT) of a segment of 4 KB. Nothing to undo. */
#include <linux/shm.h>
#include "../sysv.h"

#define MODE	0600

static int setup(struct cell *c)
{
	return keep_object(c, SYS(shmget, IPC_PRIVATE, PAGE_SIZE, MODE));
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(shmctl, c->state[OBJECT], IPC_STAT, slot_data(c));
}

static int check(struct cell *c)
{
	struct shmid64_ds *stat = (struct shmid64_ds *)slot_data(c);
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (stat->shm_segsz != PAGE_SIZE || (stat->shm_perm.mode & 0777) != MODE)
		return failed(c, "shmctl: wrong result", 0);
	return SYS(shmctl, -1, IPC_STAT, slot_data(c)) == -EINVAL ? 0 :
	       failed(c, "shmctl: wrong error", 0);
}

static void teardown(struct cell *c)
{
	SYS(shmctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("shmctl", IPC, IPC, 30, "shmctl(IPC_STAT) of a segment of System V's shared memory",
      .variants = VARIANTS({ "IPC_STAT" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
