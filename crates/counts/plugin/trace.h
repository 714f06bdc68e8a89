/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces: the blocks executed in a region, in order, from which the host derives the calls. Each
 * path of a measurement is written once.
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
#define TRACE_BEFORE	0x80000000u	/* | n: n instructions of the next block count already */
#define TRACE_SYSCALL	0xc0000000u	/* the next block is a system call's entry */
/* | from << 12 | to: another task runs from here on; tasks are numbered per region */
#define TRACE_SWITCH	0xe0000000u
#define TRACE_TASKS_MAX	4096
/*
 * If events are counted (events.h): a memory access of the block | its kind | the line's index in
 * the region, below 2^24
 */
#define TRACE_MEMORY		0xa0000000u
#define TRACE_MEMORY_STORE	(1u << 27)
#define TRACE_MEMORY_REP	(1u << 26)	/* of a REP instruction: written once per line */
#define TRACE_MEMORY_OWN	(1u << 25)	/* the task's stack, or per-CPU data */
#define TRACE_MEMORY_ATOMIC	(1u << 24)
/* If transfers are counted (transfers.h): the block causes one | number of the word's RECORD_WORD */
#define TRACE_TRANSFER		0xd0000000u
/* | half the bytes accessed by a REP instruction's iterations, even, at most this */
#define TRACE_REP_BYTES		0xb0000000u
#define TRACE_REP_BYTES_MAX	0x0ffffffeu

/* Enables traces. */
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
/* Locations of the old and the new task's stack pointers in the context switch. */
void trace_switch(uint64_t from, uint64_t to);
/* Adds a TRACE_MEMORY or TRACE_REP_BYTES element. */
void trace_put(uint32_t element);
/* Drops the region's trace. */
void trace_give_up(void);
/* Writes the region's trace, unless its path was already written for this measurement. */
void trace_end_window(const struct record *window);

#endif
