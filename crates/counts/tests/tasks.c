// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs blocks of a task in user mode, which the kernel interrupts in every way, and compares the
 * count with the instructions that the task executed. Prints each case that is counted
 * incorrectly.
 */
#include <stdio.h>

#include "arch.h"
#include "calls.h"
#include "records.h"
#include "tasks.h"

/* A user block of eight one-byte instructions at START; its rest begins at START + 3. */
#define START	0x1000
#define USER(at, count, ...)						\
	{ .first = (at), .last = (at) + (count) - 1, .next = (at) + (count), .insns = (count), \
	  .sizes = { 1, 1, 1, 1, 1, 1, 1, 1 }, __VA_ARGS__ }
#define KERNEL(at, ...)	USER(0xffffffff81000000 + (at), 2, .kernel = true, __VA_ARGS__)

enum { DIRECT, INSIDE, RETURN, INDIRECT, CALLS, REST, HANDLER, SYSCALL, NEXT, EXCEPTION, INTERRUPT,
       ENTRY, SIGRETURN, SYSRET, IRET, END };

#define BLOCK(name, ...)	static struct block name = __VA_ARGS__
BLOCK(direct, USER(START, 8, .target = 0x2000));
BLOCK(inside, USER(START, 8, .target = START + 3));
BLOCK(returns, USER(START, 8, .indirect = true, .last_kind = INSN_RET));
BLOCK(indirect, USER(START, 8, .indirect = true, .last_kind = INSN_CALL));
BLOCK(ends_in_syscall, USER(START, 8, .last_kind = INSN_SYSCALL));
BLOCK(rest, USER(START + 3, 5, .target = 0x2000));
BLOCK(handler, USER(0x3000, 2));
BLOCK(syscall, USER(0x3002, 1, .last_kind = INSN_SYSCALL));
BLOCK(next, USER(0x2000, 4));
BLOCK(exception, KERNEL(0, .exception_entry = true));
BLOCK(interrupt, KERNEL(0x100, .interrupt_entry = true));
BLOCK(entry, KERNEL(0x200));
BLOCK(sigreturn, KERNEL(0x300, .syscall = true, .sigreturn = true));
BLOCK(sysret, KERNEL(0x400, .last_kind = INSN_SYSRET));
BLOCK(iret, KERNEL(0x500, .last_kind = INSN_IRET, .left = LEFT_INTERRUPT_RETURN));

static const struct block *const blocks[] = {
	[DIRECT] = &direct, [INSIDE] = &inside, [RETURN] = &returns, [INDIRECT] = &indirect,
	[CALLS] = &ends_in_syscall, [REST] = &rest, [HANDLER] = &handler, [SYSCALL] = &syscall,
	[NEXT] = &next, [EXCEPTION] = &exception, [INTERRUPT] = &interrupt, [ENTRY] = &entry,
	[SIGRETURN] = &sigreturn, [SYSRET] = &sysret, [IRET] = &iret,
};

static const int firsts[] = { DIRECT, INSIDE, RETURN, INDIRECT, CALLS };

static const struct {
	const char *text;
	unsigned int user;	/* instructions in user mode, the first block's included */
	int then[20];		/* the blocks after the first */
} cases[] = {
	{ "a fault, then the rest", 12, { EXCEPTION, IRET, REST, NEXT, END } },
	{ "an interrupt as the fault returns", 12,
	  { EXCEPTION, IRET, INTERRUPT, IRET, REST, NEXT, END } },
	{ "two interrupts as the fault returns", 12,
	  { EXCEPTION, IRET, INTERRUPT, IRET, INTERRUPT, IRET, REST, NEXT, END } },
	{ "a fault that runs a handler", 15,
	  { EXCEPTION, IRET, HANDLER, SYSCALL, ENTRY, SIGRETURN, IRET, REST, NEXT, END } },
	{ "an interrupt as the handler begins", 15,
	  { EXCEPTION, IRET, INTERRUPT, IRET, HANDLER, SYSCALL, ENTRY, SIGRETURN, IRET, REST, NEXT,
	    END } },
	{ "an interrupt as the handler has ended", 15,
	  { EXCEPTION, IRET, HANDLER, SYSCALL, ENTRY, SIGRETURN, IRET, INTERRUPT, IRET, REST, NEXT,
	    END } },
	{ "... that ends by sysret", 15,
	  { EXCEPTION, IRET, HANDLER, SYSCALL, ENTRY, SIGRETURN, SYSRET, INTERRUPT, IRET, REST,
	    NEXT, END } },
	{ "a handler after a handler", 18,
	  { EXCEPTION, IRET, HANDLER, SYSCALL, ENTRY, SIGRETURN, IRET, HANDLER, SYSCALL, ENTRY,
	    SIGRETURN, IRET, REST, NEXT, END } },
};

/* Replacements for the parts of the plugin that are not under test. */
void records_put(const struct record *record)
{
	(void)record;
}

uint64_t functions_failing(uint64_t first, uint64_t last, uint64_t fixup)
{
	(void)first, (void)last, (void)fixup;
	return 0;
}

const struct arch *guest;

static void execute(int number)
{
	const struct block *block = blocks[number];

	if (block->kernel)
		tasks_kernel_block(block);
	else
		tasks_user_block(block);
}

int main(void)
{
	int wrong = 0;

	tasks_enable();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t first = 0; first < sizeof(firsts) / sizeof(*firsts); first++) {
			uint64_t user;

			tasks_begin();
			execute(firsts[first]);
			for (const int *then = cases[i].then; *then != END; then++)
				execute(*then);
			tasks_end(0);
			user = calls[calls_child(0, CALLS_WHAT(CALLS_TASK, 1))].instructions;
			if (user == cases[i].user)
				continue;
			printf("%s, first block %zu: %u instructions, counted %llu\n",
			       cases[i].text, first, cases[i].user, (unsigned long long)user);
			wrong++;
		}
	}
	return wrong ? 1 : 0;
}
