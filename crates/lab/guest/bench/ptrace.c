// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/ptrace.h>
#include <linux/wait.h>
#include "../child.h"

#define PEEK	1	/* arg of variants */
#define STATUS	7	/* exit status, so that 0 cannot pass by chance */

static long let_go(struct cell *c)
{
	struct timespec time = { 0, SETTLE_NS };
	long ret = SYS(ptrace, PTRACE_INTERRUPT, c->state[CHILD], 0, 0);

	if (ret >= 0)
		ret = SYS(wait4, c->state[CHILD], NULL, __WALL, NULL);
	if (ret < 0)
		return ret;
	ret = SYS(ptrace, PTRACE_DETACH, c->state[CHILD], 0, 0);
	/* Until it waits again. */
	SYS(nanosleep, &time, NULL);
	return ret;
}

static int setup(struct cell *c)
{
	int ret;
	long err;

	*(long *)slot_name(c, 0) = 'x';
	ret = start_child(c);
	if (ret || c->variant->arg != PEEK)
		return ret;
	err = SYS(ptrace, PTRACE_SEIZE, c->state[CHILD], 0, 0);
	if (err >= 0)
		err = SYS(ptrace, PTRACE_INTERRUPT, c->state[CHILD], 0, 0);
	if (err >= 0)
		err = SYS(wait4, c->state[CHILD], NULL, __WALL, NULL);
	if (err >= 0)
		return 0;
	end_child(c);
	return err == -EPERM ? unsupported(c, "this machine forbids tracing a child", err) :
	       failed(c, "ptrace", err);
}

/*
 * Measured: ptrace. `seize` becomes the tracer of a waiting child; undo: the child is stopped and
 * detached. `peek` reads a word of a stopped child. No other task runs during the call.
 */
static long ptrace_op(struct cell *c, unsigned int i)
{
	if (c->variant->arg == PEEK)
		return SYS(ptrace, PTRACE_PEEKDATA, c->state[CHILD], slot_name(c, 0), slot_data(c));
	return SYS(ptrace, PTRACE_SEIZE, c->state[CHILD], 0, 0);
}

SLOT(undo, c->variant->arg == PEEK ? 0 : let_go(c));

static int ptrace_check(struct cell *c)
{
	long ret;

	*(long *)slot_name(c, 0) = 'y';
	ret = ptrace_op(c, 0);
	if (ret == -EPERM)
		return unsupported(c, "this machine forbids tracing a child", ret);
	if (ret < 0)
		return ret;
	if (c->variant->arg == PEEK)
		return *(long *)slot_data(c) == 'x' ? 0 : failed(c, "ptrace: wrong word", 0);
	/* It has a tracer already. */
	return SYS(ptrace, PTRACE_SEIZE, c->state[CHILD], 0, 0) == -EPERM ? undo(c, 0) :
	       failed(c, "ptrace: wrong result", 0);
}

BENCH("ptrace", TRACE, IPC, 23, "ptrace of a child",
      .max_batch = 1, .variants = VARIANTS({ "seize" }, { "peek", .arg = PEEK }),
      .setup = setup, .check = ptrace_check, .op = ptrace_op, .undo = undo, .teardown = end_child);

static inline __attribute__((always_inline)) long in_a_child(int again)
{
	long pid = SYS(fork);

	if (pid == 0) {
		long ret;

		window_begin();
		ret = SYS(ptrace, PTRACE_TRACEME, 0, 0, 0);
		window_end();
		if (!ret && again)
			ret = SYS(ptrace, PTRACE_TRACEME, 0, 0, 0);
		for (;;)
			SYS(exit_group, ret < 0 ? -ret & 0xff : STATUS);
	}
	return result_of_child(pid, STATUS);
}

/*
 * Measured: ptrace(PTRACE_TRACEME), in a child that then exits. Each operation has its own child.
 * Nothing to undo.
 */
OP(ptrace_traceme_op, in_a_child(0));

static int ptrace_traceme_check(struct cell *c)
{
	long ret = in_a_child(0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no ptrace", ret);
	if (ret < 0)
		return ret;
	/* With 1, the child already has a tracer. */
	return in_a_child(1) == -EPERM ? 0 : failed(c, "ptrace: wrong result", 0);
}

BENCH("ptrace-traceme", TRACE, IPC, 33, "ptrace(PTRACE_TRACEME) by a child",
      .source = "ptrace(2)", .syscalls = "ptrace", .composite = 1,
      .variants = VARIANTS({ "child" }),
      .check = ptrace_traceme_check, .op = ptrace_traceme_op);
