/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts whole programs: every instruction between two markers, by task, kernel entry and call
 * chain. The task that opens the region and its descendants are measured. Other tasks and
 * interrupts are counted separately, never dropped.
 *
 * State is kept per task, so that a task can be switched out anywhere.
 */
#ifndef LSMETER_TASKS_H
#define LSMETER_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"

/* Enables this way of counting. */
void tasks_enable(void);
extern bool tasks_are_enabled;
static inline bool tasks_enabled(void)
{
	return tasks_are_enabled;
}

/* The current task opens the region. */
void tasks_begin(void);
/* Closes the region, in any task, and writes its counts. */
void tasks_end(uint32_t window);

/* Whether a measured task runs. */
bool tasks_measured(void);

/* A block begins: in user mode, in the kernel, or a simple one there (block.h). */
void tasks_user_block(const struct block *block);
void tasks_kernel_block(const struct block *block);
void tasks_simple_block(const struct block *block);
/* A memory access by the context switch code. */
void tasks_switch_access(bool store, uint64_t vaddr);
/* The kernel stores at vaddr while it prepares a new task's stack. */
void tasks_copy(uint64_t vaddr);

#endif
