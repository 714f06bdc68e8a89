// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/msg.h>
#include <linux/sem.h>
#include <linux/shm.h>
#include "../sysv.h"

#define MODE	0600

SETUP(msgctl_setup, keep_object(c, SYS(msgget, IPC_PRIVATE, MODE)));

OP(msgctl_op, SYS(msgctl, c->state[OBJECT], IPC_STAT, slot_data(c)));

static int msgctl_check(struct cell *c)
{
	struct msqid64_ds *stat = (struct msqid64_ds *)slot_data(c);
	long ret = msgctl_op(c, 0);

	return wrong_if(c, ret, stat->msg_qnum || (stat->msg_perm.mode & 0777) != MODE,
			"msgctl: wrong result") ?:
	       SYS(msgctl, -1, IPC_STAT, slot_data(c)) == -EINVAL ? 0 :
	       failed(c, "msgctl: wrong error", 0);
}

static void msgctl_teardown(struct cell *c)
{
	SYS(msgctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("msgctl", IPC, IPC, 28, "msgctl(IPC_STAT) of a System V queue",
      .variants = VARIANTS({ "IPC_STAT" }),
      .setup = msgctl_setup, .check = msgctl_check, .op = msgctl_op, .teardown = msgctl_teardown);

SETUP(semctl_setup, keep_object(c, SYS(semget, IPC_PRIVATE, 1, MODE)));

OP(semctl_op, SYS(semctl, c->state[OBJECT], 0, IPC_STAT, slot_data(c)));

static int semctl_check(struct cell *c)
{
	struct semid64_ds *stat = (struct semid64_ds *)slot_data(c);
	long ret = semctl_op(c, 0);

	return wrong_if(c, ret, stat->sem_nsems != 1 || (stat->sem_perm.mode & 0777) != MODE,
			"semctl: wrong result") ?:
	       SYS(semctl, -1, 0, IPC_STAT, slot_data(c)) == -EINVAL ? 0 :
	       failed(c, "semctl: wrong error", 0);
}

static void semctl_teardown(struct cell *c)
{
	SYS(semctl, c->state[OBJECT], 0, IPC_RMID, NULL);
}

BENCH("semctl", IPC, IPC, 29, "semctl(IPC_STAT) of a System V semaphore set",
      .variants = VARIANTS({ "IPC_STAT" }),
      .setup = semctl_setup, .check = semctl_check, .op = semctl_op, .teardown = semctl_teardown);

SETUP(shmctl_setup, keep_object(c, SYS(shmget, IPC_PRIVATE, PAGE_SIZE, MODE)));

OP(shmctl_op, SYS(shmctl, c->state[OBJECT], IPC_STAT, slot_data(c)));

static int shmctl_check(struct cell *c)
{
	struct shmid64_ds *stat = (struct shmid64_ds *)slot_data(c);
	long ret = shmctl_op(c, 0);

	return wrong_if(c, ret,
			stat->shm_segsz != PAGE_SIZE || (stat->shm_perm.mode & 0777) != MODE,
			"shmctl: wrong result") ?:
	       SYS(shmctl, -1, IPC_STAT, slot_data(c)) == -EINVAL ? 0 :
	       failed(c, "shmctl: wrong error", 0);
}

static void shmctl_teardown(struct cell *c)
{
	SYS(shmctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("shmctl", IPC, IPC, 30, "shmctl(IPC_STAT) of a System V shared memory segment",
      .variants = VARIANTS({ "IPC_STAT" }),
      .setup = shmctl_setup, .check = shmctl_check, .op = shmctl_op, .teardown = shmctl_teardown);
