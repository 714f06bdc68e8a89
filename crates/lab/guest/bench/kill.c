// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: kill. `null` asks only whether the signal may be sent, of the agent itself; `ignored`
 * sends it one that it ignores; `child` asks of another process. Nothing to undo.
 */
#include "../child.h"

struct action {
	void (*handler)(int number);
	u64 flags;
	void (*restorer)(void);
	u64 mask;
};

static int ignore(int number, struct action *old)
{
	struct action action = { .handler = SIG_IGN };

	return SYS(rt_sigaction, number, &action, old, sizeof(u64));
}

static int setup(struct cell *c)
{
	if (c->variant->arg2)
		return start_child(c);
	c->state[CHILD] = SYS(getpid);
	return c->variant->arg ? ignore(c->variant->arg, (struct action *)slot_data(c)) : 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(kill, c->state[CHILD], c->variant->arg);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	/* No process has this number: it is above any limit. */
	return SYS(kill, 0x7ffffffe, 0) == -ESRCH ? 0 : failed(c, "kill: wrong result", 0);
}

static void teardown(struct cell *c)
{
	if (c->variant->arg2)
		end_child(c);
	else if (c->variant->arg)
		SYS(rt_sigaction, c->variant->arg, slot_data(c), NULL, sizeof(u64));
}

BENCH("kill", SIGNAL, IPC, 13,
      "kill of the process itself, or of a child, by a signal that does nothing",
      .source = "LMbench lat_sig; kill(2)",
      .variants = VARIANTS({ "null" }, { "ignored", .arg = SIGUSR1 }, { "child", .arg2 = 1 }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
