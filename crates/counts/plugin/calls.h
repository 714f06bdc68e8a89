/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree of a measured region's tasks. It has a node for each function under each chain of
 * callers, with its calls and its own instructions. Above the functions are the kernel entry and
 * the calling task.
 */
#ifndef LSMETER_CALLS_H
#define LSMETER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Kind and number of a node; src/calls.rs has the same kinds. */
enum calls_kind {
	CALLS_FUNCTION,		/* the function's number */
	CALLS_TASK,		/* of the measured tree; its own instructions: user mode */
	CALLS_SYSCALL,		/* the system call's function; below CALLS_TASK */
	CALLS_EXCEPTION,	/* its entry's function; from user mode */
	CALLS_BEGIN,		/* a new task before its first user instruction */
	CALLS_UNKNOWN,		/* another kernel entry, or a system call without function */
	CALLS_OTHERS,		/* tasks that are not measured; own instructions: user mode */
	CALLS_INTERRUPTS,
};

#define CALLS_WHAT(kind, number)	((uint32_t)(kind) << 28 | (number))
#define CALLS_NUMBER_MAX		((1u << 28) - 1)
/* Call chains in a region; the largest program tried had 200,000. */
#define CALLS_MAX			(4u << 20)

struct calls_node {
	uint32_t parent;
	uint32_t what;
	uint64_t calls;
	uint64_t instructions;
	uint32_t latest;	/* the child found by the last lookup, or 0 */
};

extern struct calls_node *calls;
/* Whether a node was lost because there are more than CALLS_MAX. */
extern bool calls_overflown;

/* Removes all nodes except the root, which is node 0. */
void calls_reset(void);

/* Finds or adds the node of what below parent. */
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
