// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: fork, execve of the agent itself in the child, its exit, and wait4;
 * the child's kernel work belongs to the operation. Nothing to undo.
 *
 * The agent's main() exits with 0 at once when argv[0] is "lsmeter-exit".
 */
#include "../agent-path.h"

#define FAILED		127	/* the child's status when execve fails */

/* c->path becomes the agent's own path. */
static int setup(struct cell *c)
{
	return agent_path(c->path, sizeof(c->path));
}

static inline long fork_execve_wait(struct cell *c, int *status)
{
	char *const argv[] = { "lsmeter-exit", NULL };
	char *const envp[] = { NULL };
	long pid = SYS(fork);

	if (pid == 0) {
		SYS(execve, c->path, argv, envp);
		for (;;)
			SYS(exit_group, FAILED);
	}
	if (pid < 0)
		return pid;
	return SYS(wait4, pid, status, 0, 0);
}

static long op(struct cell *c, unsigned int i)
{
	return fork_execve_wait(c, NULL);
}

static int check(struct cell *c)
{
	int status = -1;
	long ret = fork_execve_wait(c, &status);

	if (ret < 0)
		return ret;
	if (status == FAILED << 8)
		return unsupported(c, "the agent cannot execute itself", -EACCES);
	return status == 0 ? 0 : failed(c, "execve: wrong result", 0);
}

BENCH("execve", PROCESS, BEYOND, 31,
      "fork and execve of a small static program that exits at once, and the wait for it",
      .source = "LMbench lat_proc exec; execve(2)", .syscalls = "fork execve exit_group wait4",
      .counts_children = 1, .variants = VARIANTS({ "agent" }),
      .setup = setup, .check = check, .op = op);
