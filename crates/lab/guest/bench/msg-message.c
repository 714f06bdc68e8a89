// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: msgsnd into a queue of System V and msgrcv out of it. Nothing to undo. */
#include <linux/msg.h>
#include "../sysv.h"

#define KB	1024

static int setup(struct cell *c)
{
	long *type = (long *)c->buffer;

	*type = 1;
	return keep_object(c, SYS(msgget, IPC_PRIVATE, 0600));
}

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(msgsnd, c->state[OBJECT], c->buffer, c->variant->arg, 0);

	return ret < 0 ? ret : SYS(msgrcv, c->state[OBJECT], c->buffer, c->variant->arg, 0, 0);
}

static int check(struct cell *c)
{
	char *text = c->buffer + sizeof(long);
	long ret;

	text[c->variant->arg - 1] = 'x';
	ret = SYS(msgsnd, c->state[OBJECT], c->buffer, c->variant->arg, 0);
	text[c->variant->arg - 1] = 'y';
	if (ret >= 0)
		ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != c->variant->arg || text[ret - 1] != 'x')
		return failed(c, "msgrcv: wrong result", 0);
	ret = SYS(msgrcv, c->state[OBJECT], c->buffer, c->variant->arg, 0, 0);
	return ret < 0 ? ret : 0;
}

static void teardown(struct cell *c)
{
	SYS(msgctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("msg-message", MESSAGE, IPC, 6, "a message into a queue of System V, and out of it",
      .source = "msgop(2)", .syscalls = "msgsnd msgrcv",
      .variants = VARIANTS({ "1B", .arg = 1 }, { "1KB", .arg = KB }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
