// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: rt_sigqueueinfo of a blocked signal with a value to the process itself, and
 * rt_sigtimedwait. Nothing to undo.
 */
#include "../signals.h"

#define VALUE	42

static siginfo_t *sent(struct cell *c)
{
	return (siginfo_t *)slot_name(c, 1);
}

static int setup(struct cell *c)
{
	sent(c)->si_signo = BLOCKED;
	sent(c)->si_code = SI_QUEUE;
	sent(c)->si_value.sival_int = VALUE;
	return block_signal(c);
}

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(rt_sigqueueinfo, c->state[SELF], BLOCKED, sent(c));

	return ret < 0 ? ret : take_signal(c);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (ret != BLOCKED || taken(c)->si_value.sival_int != VALUE)
		return failed(c, "rt_sigtimedwait: wrong signal", 0);
	return 0;
}

BENCH("sigqueue-wait", SIGNAL, IPC, 15,
      "a blocked signal with a value to the process itself, sent and taken",
      .source = "sigqueue(3), sigwaitinfo(2)", .syscalls = "rt_sigqueueinfo rt_sigtimedwait",
      .variants = VARIANTS({ "self" }),
      .setup = setup, .check = check, .op = op, .teardown = unblock_signal);
