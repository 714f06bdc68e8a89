// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts the agent with a stack, as a kernel does in a virtual machine. */
#include <sys/auxv.h>
#include "agent.h"
#include "start.h"

__attribute__((noreturn)) void start_c(const u64 *stack);

void lsmeter_start(void)
{
	const u64 stack[] = {
		0,		/* argc */
		0,		/* argv[0] */
		0,		/* envp[0] */
		/* The host's vDSO, to read the host's clock without a system call. */
		AT_SYSINFO_EHDR, getauxval(AT_SYSINFO_EHDR),
		AT_NULL, 0,
	};

	start_c(stack);
}

/* Whether a word is in a list of calls such as "open close". */
static int has_word(const char *calls, const char *word)
{
	size_t len = strlen(word);

	while (*calls) {
		if (!strncmp(calls, word, len) && (!calls[len] || calls[len] == ' '))
			return 1;
		while (*calls && *calls != ' ')
			calls++;
		while (*calls == ' ')
			calls++;
	}
	return 0;
}

const char *lsmeter_lacks(const char *syscalls)
{
	if (has_word(syscalls, "fork") || has_word(syscalls, "clone") ||
	    has_word(syscalls, "execve"))
		return "it needs a second task, and in this kernel there is one";
	if (has_word(syscalls, "mmap") || has_word(syscalls, "shmat") ||
	    has_word(syscalls, "io_uring_enter") || has_word(syscalls, "io_uring_setup") ||
	    has_word(syscalls, "mprotect"))
		return "it maps memory of user space, where nothing runs in this kernel";
	return NULL;
}
