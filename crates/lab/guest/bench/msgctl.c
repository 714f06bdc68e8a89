// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: msgctl(IPC_STAT) of a queue. Nothing to undo. */
#include <linux/msg.h>
#include "../sysv.h"

#define MODE	0600

static int setup(struct cell *c)
{
	return keep_object(c, SYS(msgget, IPC_PRIVATE, MODE));
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(msgctl, c->state[OBJECT], IPC_STAT, slot_data(c));
}

static int check(struct cell *c)
{
	struct msqid64_ds *stat = (struct msqid64_ds *)slot_data(c);
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (stat->msg_qnum || (stat->msg_perm.mode & 0777) != MODE)
		return failed(c, "msgctl: wrong result", 0);
	return SYS(msgctl, -1, IPC_STAT, slot_data(c)) == -EINVAL ? 0 :
	       failed(c, "msgctl: wrong error", 0);
}

static void teardown(struct cell *c)
{
	SYS(msgctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("msgctl", IPC, IPC, 28, "msgctl(IPC_STAT) of a queue of System V",
      .variants = VARIANTS({ "IPC_STAT" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
