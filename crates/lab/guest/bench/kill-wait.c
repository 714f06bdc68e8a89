// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: kill of the process itself by a blocked signal, and rt_sigtimedwait. Nothing to undo. */
#include "../signals.h"

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(kill, c->state[SELF], BLOCKED);

	return ret < 0 ? ret : take_signal(c);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (ret != BLOCKED || taken(c)->si_code != SI_USER)
		return failed(c, "rt_sigtimedwait: wrong signal", 0);
	return 0;
}

BENCH("kill-wait", SIGNAL, IPC, 14, "a blocked signal to the process itself, sent and taken",
      .source = "kill(2), sigwaitinfo(2)", .syscalls = "kill rt_sigtimedwait",
      .variants = VARIANTS({ "self" }),
      .setup = block_signal, .check = check, .op = op, .teardown = unblock_signal);
