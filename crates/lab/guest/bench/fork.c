// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: fork of a child that exits at once, and wait4 for it; the child's
 * kernel work belongs to the operation. Nothing to undo.
 */
#include "slots.h"

#define STATUS	7	/* exits with this, so that 0 cannot pass by chance */

static inline long fork_exit_wait(int *status)
{
	long pid = SYS(fork);

	if (pid == 0) {
		for (;;)
			SYS(exit_group, STATUS);
	}
	if (pid < 0)
		return pid;
	return SYS(wait4, pid, status, 0, 0);
}

static long op(struct cell *c, unsigned int i)
{
	return fork_exit_wait(NULL);
}

static int check(struct cell *c)
{
	int status = -1;
	long ret = fork_exit_wait(&status);

	if (ret < 0)
		return ret;
	return status == STATUS << 8 ? 0 : failed(c, "fork: wrong result", 0);
}

BENCH("fork", PROCESS, BEYOND, 30, "fork of a child that exits at once, and the wait for it",
      .source = "LMbench lat_proc fork; fork(2)", .syscalls = "fork exit_group wait4",
      .counts_children = 1, .variants = VARIANTS({ "exit" }),
      .check = check, .op = op);
