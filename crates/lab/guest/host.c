// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On the host, frames go through standard input and output. The agent works in a new directory
 * below the given one, and removes it at the end.
 */
#include <asm/signal.h>
#include "delays.h"

static char work_name[32];
static long parent = -1;
static long own_pid;

static void restorer(void)
{
	/* This never returns, because the handler ends the process. */
	exit_process(1);
}

static void on_signal(int number)
{
	/* A benchmark's child must not remove the directory. */
	if (SYS(getpid) != own_pid)
		exit_process(1);
	protocol_forget();
	host_leave_directory();
	exit_process(128 + number);
}

struct kernel_sigaction {
	void (*handler)(int number);
	u64 flags;
	void (*restorer)(void);
	u64 mask;
};

static void set_handler(int number, void (*handler)(int))
{
	struct kernel_sigaction action = {
		.handler = handler,
		.flags = SA_RESTORER,
		.restorer = restorer,
		.mask = ~0ull,
	};

	SYS(rt_sigaction, number, &action, NULL, sizeof(action.mask));
}

void host_start(void)
{
	own_pid = SYS(getpid);
	/* Writing to a closed pipe then returns EPIPE, and the agent cleans up. */
	set_handler(SIGPIPE, SIG_IGN);
	set_handler(SIGTERM, on_signal);
	set_handler(SIGINT, on_signal);
	set_handler(SIGHUP, on_signal);
	protocol_start(0, 1);
}

void host_enter_directory(void)
{
	char name[sizeof(work_name)];
	long err;

	if (experiment.fs[0])
		fatal("experiment: fs is for a VM only");
	if (!experiment.dir[0])
		fatal("experiment: dir is missing");
	parent = sys_open(experiment.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	or_fatal(parent, "opening the directory %s", experiment.dir);
	format(name, sizeof(name), "lsmeter-agent-%ld", own_pid);
	err = SYS(mkdirat, parent, name, 0700);
	or_fatal(err, "mkdir of %s/%s", experiment.dir, name);
	memcpy(work_name, name, sizeof(name));
	err = SYS(fchdir, parent);
	if (err == 0)
		err = SYS(chdir, name);
	or_fatal(err, "chdir to %s/%s", experiment.dir, name);
}

void host_leave_directory(void)
{
	delays_leave();
	if (parent < 0 || !work_name[0])
		return;
	if (SYS(fchdir, parent) == 0)
		remove_tree(work_name);
	work_name[0] = '\0';
}
