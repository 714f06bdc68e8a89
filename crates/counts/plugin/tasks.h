/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting whole programs: every instruction between two markers, sorted by the task
 * that ran, by what took it into the kernel, and by the chain of calls. The task that
 * opens the window and all that it creates are measured. Other tasks and interrupts are
 * told apart, never dropped.
 *
 * State that belongs to a task is kept by task, so that it can be switched out anywhere.
 */
#ifndef LSMETER_TASKS_H
#define LSMETER_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"

/* From now on, windows are counted so. */
void tasks_enable(void);
extern bool tasks_are_enabled;
static inline bool tasks_enabled(void)
{
	return tasks_are_enabled;
}

/* The task that runs opens the window. */
void tasks_begin(void);
/* Whichever task runs closes it. Writes what was counted. */
void tasks_end(uint32_t window);

/* A measured task runs. */
bool tasks_measured(void);

/* A block begins: in user mode; in the kernel; there, and simple (block.h). */
void tasks_user_block(const struct block *block);
void tasks_kernel_block(const struct block *block);
void tasks_simple_block(const struct block *block);
/* An access to memory of the context switch's code. */
void tasks_switch_access(bool store, uint64_t vaddr);
/* The kernel stores at vaddr while it prepares a new task's stack. */
void tasks_copy(uint64_t vaddr);

#endif
