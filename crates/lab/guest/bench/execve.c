// SPDX-License-Identifier: GPL-2.0-or-later
#include "../slots.h"

#define FAILED		127	/* the child's status when execve fails */
#define SCRIPT		"script"
#define INTERPRETER	"lsmeter-exit"

static inline long fork_execve_wait(const char *path, char *name, int *status)
{
	char *const argv[] = { name, NULL };
	char *const envp[] = { NULL };
	long pid = SYS(fork);

	if (pid == 0) {
		SYS(execve, path, argv, envp);
		for (;;)
			SYS(exit_group, FAILED);
	}
	if (pid < 0)
		return pid;
	return SYS(wait4, pid, status, 0, 0);
}

OP(execve_op, fork_execve_wait(exit_program, INTERPRETER, NULL));

static int execve_check(struct cell *c)
{
	int status = -1;
	long ret = fork_execve_wait(exit_program, INTERPRETER, &status);

	if (ret < 0)
		return ret;
	if (status == FAILED << 8)
		return unsupported(c, "the program cannot be executed", -EACCES);
	return status == 0 ? 0 : failed(c, "execve: wrong result", 0);
}

BENCH("execve", PROCESS, BEYOND, 31,
      "fork, execve of a small static program that exits at once, and wait4",
      .source = "LMbench lat_proc exec; execve(2)", .syscalls = "fork execve exit_group wait4",
      .counts_children = 1, .variants = VARIANTS({ "agent" }),
      .check = execve_check, .op = execve_op);

static int execve_script_setup(struct cell *c)
{
	static const char text[] = "#!" INTERPRETER "\n";
	long ret = SYS(symlink, exit_program, INTERPRETER), fd;

	if (ret < 0)
		return ret;
	fd = sys_open(SCRIPT, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0)
		return fd;
	ret = sys_write(fd, text, sizeof(text) - 1);
	sys_close(fd);
	return ret < 0 ? ret : 0;
}

OP(execve_script_op, fork_execve_wait(SCRIPT, SCRIPT, NULL));

static int execve_script_check(struct cell *c)
{
	int status = -1;
	long ret = fork_execve_wait(SCRIPT, SCRIPT, &status);

	if (ret < 0)
		return ret;
	if (status == FAILED << 8)
		return unsupported(c, "no scripts here, or the program cannot be executed", -EACCES);
	return status == 0 ? 0 : failed(c, "execve: wrong result", 0);
}

BENCH("execve-script", PROCESS, PROCESS, 2,
      "fork, execve of a script whose interpreter exits at once, and wait4",
      .source = "LMbench lat_proc shell; execve(2)", .syscalls = "fork execve exit_group wait4",
      .counts_children = 1, .variants = VARIANTS({ "agent" }),
      .setup = execve_script_setup, .check = execve_script_check, .op = execve_script_op);
