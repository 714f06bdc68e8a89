// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/sched.h>
#include "../child.h"

#define STATUS	7	/* exit status, so that 0 cannot pass by chance */

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

OP(fork_op, fork_exit_wait(NULL));

static int fork_check(struct cell *c)
{
	int status = -1;
	long ret = fork_exit_wait(&status);

	return wrong_if(c, ret, status != STATUS << 8, "fork: wrong result");
}

BENCH("fork", PROCESS, BEYOND, 30, "fork of a child that exits at once, and wait4",
      .source = "LMbench lat_proc fork; fork(2)", .syscalls = "fork exit_group wait4",
      .counts_children = 1, .variants = VARIANTS({ "exit" }),
      .check = fork_check, .op = fork_op);

/* A child that shares the parent's memory uses the parent's stack, and must not change it. */
static inline __attribute__((always_inline)) long clone_exit_wait(struct cell *c, int *status)
{
	long pid = SYS(clone, c->variant->arg | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		for (;;)
			SYS(exit, STATUS);
	}
	if (pid < 0)
		return pid;
	return SYS(wait4, pid, status, 0, 0);
}

/*
 * Measured: clone of a child that exits at once, and wait4; the child's kernel work belongs to the
 * operation. `vfork`: the child shares the memory and the parent is suspended, as in vfork(2) and
 * posix_spawn(3). `newuts`, `newuser`: in a new namespace. Nothing to undo.
 */
OP(clone_op, clone_exit_wait(c, NULL));

static int clone_check(struct cell *c)
{
	int status = -1;
	long ret = clone_exit_wait(c, &status);

	if ((ret == -EPERM || ret == -ENOSPC || ret == -EINVAL || ret == -EACCES) &&
	    c->variant->arg2)
		return unsupported(c, "no such namespace for this user", ret);
	return wrong_if(c, ret, status != STATUS << 8, "clone: wrong result");
}

BENCH("clone", PROCESS, PROCESS, 1, "clone of a child that exits at once, and wait4",
      .source = "LMbench lat_proc; clone(2), vfork(2)", .syscalls = "clone exit wait4",
      .counts_children = 1,
      .variants = VARIANTS({ "vfork", .arg = CLONE_VM | CLONE_VFORK },
			   { "newuts", .arg = CLONE_NEWUTS, .arg2 = 1 },
			   { "newuser", .arg = CLONE_NEWUSER, .arg2 = 1 }),
      .check = clone_check, .op = clone_op);
