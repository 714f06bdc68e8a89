// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: fork; in the child, setexeccon(3) (open of /proc/self/attr/exec, write of a context,
 * close), then execve of a program that exits; and wait4. The context is the current one, so the
 * additional cost of execve is the cost of an explicit context. The child's kernel work belongs to
 * the operation. Nothing to undo.
 */
#include "../slots.h"

#define CURRENT		"/proc/self/attr/current"
#define EXEC		"/proc/self/attr/exec"
#define FAILED		127	/* the child's status when a call fails */
#define CONTEXT_LEN	0	/* c->state[]: bytes of the context in c->path2 */

static long read_all(const char *path, char *to, size_t size)
{
	long fd = sys_open(path, O_RDONLY, 0), n;

	if (fd < 0)
		return fd;
	n = sys_read(fd, to, size);
	sys_close(fd);
	return n;
}

static inline long ask_for(const char *context, size_t len)
{
	long fd = sys_open(EXEC, O_WRONLY, 0), n;

	if (fd < 0)
		return fd;
	n = sys_write(fd, context, len);
	sys_close(fd);
	return n;
}

static int setup(struct cell *c)
{
	long n = read_all(CURRENT, c->path2, sizeof(c->path2) - 1);

	if (n <= 0)
		return unsupported(c, "no module of the stack gives tasks a context: " CURRENT,
				   n);
	c->state[CONTEXT_LEN] = n;
	n = ask_for(c->path2, n);
	if (n == -EINVAL || n == -EOPNOTSUPP)
		return unsupported(c, "no module of the stack takes a context for execve: " EXEC, n);
	if (n < 0)
		return failed(c, "writing " EXEC, n);
	/* Children inherit the context; children of other benchmarks must have none. */
	return ask_for("\n", 1) < 0 ? failed(c, "taking it back: " EXEC, 0) : 0;
}

static inline long fork_ask_execve_wait(struct cell *c, int *status)
{
	char *const argv[] = { exit_program, NULL };
	char *const envp[] = { NULL };
	long pid = SYS(fork);

	if (pid == 0) {
		if (ask_for(c->path2, c->state[CONTEXT_LEN]) > 0)
			SYS(execve, exit_program, argv, envp);
		for (;;)
			SYS(exit_group, FAILED);
	}
	if (pid < 0)
		return pid;
	return SYS(wait4, pid, status, 0, 0);
}

OP(op, fork_ask_execve_wait(c, NULL));

static int check(struct cell *c)
{
	int status = -1;
	long ret = fork_ask_execve_wait(c, &status);

	if (ret < 0)
		return ret;
	if (status == FAILED << 8)
		return unsupported(c, "the program cannot be executed in the agent's context", -EACCES);
	return status == 0 ? 0 : failed(c, "setexeccon and execve: wrong result", 0);
}

BENCH("setexeccon", PROCESS, BEYOND, 61,
      "fork, setexeccon to the current context, execve of a small program, wait4",
      .source = "setexeccon(3), execve(2)",
      .syscalls = "fork open write close execve exit_group wait4", .counts_children = 1,
      .variants = VARIANTS({ "own-context" }),
      .setup = setup, .check = check, .op = op);
