// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The agent: init in a VM, a process on the host. It sends hello, reads the experiment, measures
 * it and ends.
 */
#include "agent.h"
#include "settings/memory.h"

static int in_vm;

void exit_process(int status)
{
	for (;;)
		SYS(exit_group, status);
}

void finish(int status)
{
	if (is_given_child())
		exit_process(status);
	if (in_vm)
		vm_end();
	host_leave_directory();
	exit_process(status);
}

void fatal(const char *fmt, ...)
{
	static int dying;
	__builtin_va_list args;

	if (!dying) {
		dying = 1;
		__builtin_va_start(args, fmt);
		send_text(FRAME_FAILED, fmt, args);
		__builtin_va_end(args);
	}
	finish(1);
}

void or_fatal(long ret, const char *fmt, ...)
{
	__builtin_va_list args;
	char text[512];

	if (ret >= 0)
		return;
	__builtin_va_start(args, fmt);
	format_args(text, sizeof(text), fmt, args);
	__builtin_va_end(args);
	fatal("%s: %s (%ld)", text, errno_name(ret), -ret);
}

static void usage(void)
{
	static const char text[] =
		"usage: agent [--list]\n"
		"Measures what the frames on standard input ask for; lsmeter starts it.\n";

	sys_write(2, text, sizeof(text) - 1);
	exit_process(2);
}

__attribute__((noreturn, used)) void start_c(const u64 *stack)
{
	long argc = stack[0];
	char *const *argv = (char *const *)(stack + 1);
	const u64 *auxv = stack + 1 + argc + 1;

	in_vm = SYS(getpid) == 1;
	if (!in_vm && argc > 1) {
		if (argc == 2 && !strcmp(argv[1], "--list"))
			exit_process(list_benchmarks());
		usage();
	}
	while (*auxv)	/* skips the environment */
		auxv++;
	auxv++;

	experiment.processor = 0;
	if (in_vm)
		vm_start();
	else
		host_start();
	exit_program_start(in_vm);
	clock_start(auxv);
	undisturbed_start();
	send_hello();
	if (in_vm)
		send_modules();
	read_experiment(in_vm);
	memory_start();
	processors_start();
	policies_load();
	if (in_vm)
		vm_enter_directory();
	else
		host_enter_directory();
	policies_enforce();
	delays_start();
	run_cells(in_vm);
	delays_stop();
	send_frame(FRAME_DONE, "", 0);
	finish(0);
}
