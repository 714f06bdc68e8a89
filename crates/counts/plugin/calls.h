/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of calls that a window's tasks make: a node for each function under each
 * chain of callers, with how often it was called and how many instructions were its own.
 * Above the functions stand the task that called, and what took it into the kernel.
 */
#ifndef LSMETER_CALLS_H
#define LSMETER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* What a node is: one of these, and a number. src/calls.rs knows them, too. */
enum calls_kind {
	CALLS_FUNCTION,		/* the function's number */
	CALLS_TASK,		/* of the tree that is measured; its own: user instructions */
	CALLS_SYSCALL,		/* the system call's function; below CALLS_TASK */
	CALLS_EXCEPTION,	/* its entry's function; from user mode */
	CALLS_BEGIN,		/* a task's way to its first instruction in user mode */
	CALLS_UNKNOWN,		/* another way into the kernel, or a system call without function */
	CALLS_OTHERS,		/* tasks that are not measured; its own: user instructions */
	CALLS_INTERRUPTS,
};

#define CALLS_WHAT(kind, number)	((uint32_t)(kind) << 28 | (number))
#define CALLS_NUMBER_MAX		((1u << 28) - 1)
/* Chains of calls in a window; the largest program tried had 200,000. */
#define CALLS_MAX			(4u << 20)

struct calls_node {
	uint32_t parent;
	uint32_t what;
	uint64_t calls;
	uint64_t instructions;
	uint32_t latest;	/* the child that was looked up last, or 0 */
};

extern struct calls_node *calls;
/* A node was lost: there were more than CALLS_MAX. */
extern bool calls_overflown;

/* Forgets all but the root, which is node 0. */
void calls_reset(void);

/* The node of what below parent. */
uint32_t calls_find(uint32_t parent, uint32_t what);

static inline uint32_t calls_child(uint32_t parent, uint32_t what)
{
	uint32_t latest = calls[parent].latest;

	if (latest && calls[latest].what == what)
		return latest;
	return calls_find(parent, what);
}

/* Writes the tree as records. */
void calls_tell(void);

#endif
