// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: ptrace(PTRACE_TRACEME), by a child that exits then. Each operation has a child of its
 * own, and its window is the child's. Nothing to undo.
 */
#include <linux/ptrace.h>
#include "../child.h"

#define STATUS	7	/* exits with this, so that 0 cannot pass by chance */

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

static long op(struct cell *c, unsigned int i)
{
	return in_a_child(0);
}

static int check(struct cell *c)
{
	long ret = in_a_child(0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no ptrace", ret);
	if (ret < 0)
		return ret;
	/* It has a tracer then. */
	return in_a_child(1) == -EPERM ? 0 : failed(c, "ptrace: wrong result", 0);
}

BENCH("ptrace-traceme", TRACE, IPC, 33, "a child makes its parent its tracer",
      .source = "ptrace(2)", .syscalls = "ptrace", .composite = 1,
      .variants = VARIANTS({ "child" }),
      .check = check, .op = op);
