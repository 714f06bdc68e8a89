// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: msgget of a new queue. Undone outside: msgctl(IPC_RMID). `existing`: of
 * one that is there, found by its key; nothing to undo.
 */
#include <linux/msg.h>
#include "../sysv.h"

static int setup(struct cell *c)
{
	c->state[KEY] = object_key(c);
	if (c->variant->arg != EXISTING)
		return 0;
	return keep_object(c, SYS(msgget, c->state[KEY], IPC_CREAT | IPC_EXCL | 0600));
}

static long op(struct cell *c, unsigned int i)
{
	long id = SYS(msgget, c->state[KEY], 0600);

	*slot_fd(c, i) = id;
	return id;
}

static int undo(struct cell *c, unsigned int i)
{
	if (c->variant->arg == EXISTING)
		return 0;
	return SYS(msgctl, *slot_fd(c, i), IPC_RMID, NULL);
}

static int check(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		return check_existing(c, op(c, 0), "msgget: wrong result");
	return check_object(c, op(c, 0), "msgget: wrong result", undo);
}

static void teardown(struct cell *c)
{
	if (c->variant->arg == EXISTING)
		SYS(msgctl, c->state[OBJECT], IPC_RMID, NULL);
}

BENCH("msgget", IPC, IPC, 5, "msgget of a queue of System V, new or there",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "private" }, { "existing", .arg = EXISTING }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
