// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/msg.h>
#include <linux/sem.h>
#include <linux/shm.h>
#include "../sysv.h"

#define KB	1024

static int msg_message_setup(struct cell *c)
{
	long *type = (long *)c->buffer;

	*type = 1;
	return keep_object(c, SYS(msgget, IPC_PRIVATE, 0600));
}

static long msg_message_op(struct cell *c, unsigned int i)
{
	long ret = SYS(msgsnd, c->state[OBJECT], c->buffer, c->variant->arg, 0);

	return ret < 0 ? ret : SYS(msgrcv, c->state[OBJECT], c->buffer, c->variant->arg, 0, 0);
}

static int msg_message_check(struct cell *c)
{
	char *text = c->buffer + sizeof(long);
	long ret;

	text[c->variant->arg - 1] = 'x';
	ret = SYS(msgsnd, c->state[OBJECT], c->buffer, c->variant->arg, 0);
	text[c->variant->arg - 1] = 'y';
	if (ret >= 0)
		ret = msg_message_op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != c->variant->arg || text[ret - 1] != 'x')
		return failed(c, "msgrcv: wrong result", 0);
	ret = SYS(msgrcv, c->state[OBJECT], c->buffer, c->variant->arg, 0, 0);
	return ret < 0 ? ret : 0;
}

static void msg_message_teardown(struct cell *c)
{
	SYS(msgctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("msg-message", MESSAGE, IPC, 6, "a message into a System V queue, and out of it",
      .source = "msgop(2)", .syscalls = "msgsnd msgrcv",
      .variants = VARIANTS({ "1B", .arg = 1 }, { "1KB", .arg = KB }),
      .setup = msg_message_setup, .check = msg_message_check, .op = msg_message_op,
      .teardown = msg_message_teardown);

SETUP(semop_setup, keep_object(c, SYS(semget, IPC_PRIVATE, 1, 0600)));

static long semop_op(struct cell *c, unsigned int i)
{
	struct sembuf up = { .sem_op = 1 }, down = { .sem_op = -1 };
	long ret = SYS(semop, c->state[OBJECT], &up, 1);

	return ret < 0 ? ret : SYS(semop, c->state[OBJECT], &down, 1);
}

static int semop_check(struct cell *c)
{
	struct sembuf up = { .sem_op = 1 }, down = { .sem_op = -1, .sem_flg = IPC_NOWAIT };
	long ret = semop_op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(semop, c->state[OBJECT], &down, 1) != -EAGAIN ||
	    SYS(semop, c->state[OBJECT], &up, 1) || SYS(semop, c->state[OBJECT], &down, 1))
		return failed(c, "semop: wrong result", 0);
	return 0;
}

static void semop_teardown(struct cell *c)
{
	SYS(semctl, c->state[OBJECT], 0, IPC_RMID, NULL);
}

BENCH("semop", MESSAGE, IPC, 8, "a System V semaphore, raised and lowered",
      .source = "LMbench lat_sem, without a switch of tasks; semop(2)", .syscalls = "semop semop",
      .variants = VARIANTS({ "up-down" }),
      .setup = semop_setup, .check = semop_check, .op = semop_op, .teardown = semop_teardown);

SETUP(shmat_setup, keep_object(c, SYS(shmget, IPC_PRIVATE, PAGE_SIZE, 0600)));

static long shmat_op(struct cell *c, unsigned int i)
{
	long at = SYS(shmat, c->state[OBJECT], NULL, 0);

	return at < 0 && at > -4096 ? at : SYS(shmdt, at);
}

static int shmat_check(struct cell *c)
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

static void shmat_teardown(struct cell *c)
{
	SYS(shmctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("shmat", IPC, IPC, 10, "shmat and shmdt of a System V shared memory segment",
      .source = "shmop(2)", .syscalls = "shmat shmdt", .variants = VARIANTS({ "4KB" }),
      .setup = shmat_setup, .check = shmat_check, .op = shmat_op, .teardown = shmat_teardown);
