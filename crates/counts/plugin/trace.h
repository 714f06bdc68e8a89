/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces: the blocks that a window executed, in order, so that the host can tell
 * which function called which. A path that a cell took before is not told again.
 *
 * A trace is a sequence of 32-bit elements; src/trace.rs reads it.
 */
#ifndef LSMETER_TRACE_H
#define LSMETER_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "records.h"

/* A block begins: its number (below 2^31), which RECORD_BLOCK explains. */
#define TRACE_BEFORE	0x80000000u	/* | n: of the next block n were counted before */
#define TRACE_SYSCALL	0xc0000000u	/* the next block is where a system call enters */
/* | from << 12 | to: another task runs from here on; tasks are numbered by window */
#define TRACE_SWITCH	0xe0000000u
#define TRACE_TASKS_MAX	4096
/*
 * Where events are counted (events.h): an access to memory of the block's instructions
 * | what it is | the how manieth line of the window, below 2^24
 */
#define TRACE_MEMORY		0xa0000000u
#define TRACE_MEMORY_STORE	(1u << 27)
#define TRACE_MEMORY_REP	(1u << 26)	/* of a REP instruction: told once a line */
#define TRACE_MEMORY_OWN	(1u << 25)	/* the task's stack, or the processor's own data */
#define TRACE_MEMORY_ATOMIC	(1u << 24)
/* | half bytes, an even number at most this, that the iterations of a REP instruction were about */
#define TRACE_REP_BYTES		0xb0000000u
#define TRACE_REP_BYTES_MAX	0x0ffffffeu

/* From now on, traces are kept. */
void trace_enable(void);
extern bool trace_is_enabled;
static inline bool trace_enabled(void)
{
	return trace_is_enabled;
}

void trace_begin_cell(void);
void trace_begin_window(void);
/* counted_before: see window.c */
void trace_block(struct block *block, uint32_t counted_before);
void trace_syscall(void);
/* Where the context switch keeps the old and the new task's stack pointers. */
void trace_switch(uint64_t from, uint64_t to);
/* An element of TRACE_MEMORY or TRACE_REP_BYTES. */
void trace_put(uint32_t element);
/* The window is not to be told. */
void trace_give_up(void);
/* Writes the window's trace, unless its path has been told in this cell. */
void trace_end_window(const struct record *window);

#endif
