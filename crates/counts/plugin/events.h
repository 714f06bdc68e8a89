/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events: what instructions do that their number hides. Which instructions of a block
 * have effects is told once, with the block; what they do with memory stands in the
 * window's trace, between its blocks (trace.h).
 */
#ifndef LSMETER_EVENTS_H
#define LSMETER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "decode.h"

/* From now on, traces are kept and events stand in them. */
void events_enable(void);
extern bool events_are_enabled;
static inline bool events_enabled(void)
{
	return events_are_enabled;
}

/* How an instruction accesses memory: one of few, found when it is translated. */
struct access {
	bool atomic;
	bool pushes;
	bool per_cpu;
	bool rep;
	bool rep_store;			/* the access that happens once an iteration */
	uint8_t half_bytes;		/* of such an access */
};

const struct access *events_access(const struct effects *effects, const struct insn *insn);

void events_begin_window(void);
/* A block begins that is no further iteration of the REP instruction before it. */
void events_block(void);
/* An access of the instruction of the block that runs. */
void events_memory(const struct access *access, bool store, uint64_t vaddr);

/* Keeps of a block that is translated what its instruction number position does. */
void events_note(struct block *block, uint32_t position, const struct effects *effects);
/* Writes what was noted of a block. */
void events_describe(const struct block *block);

#endif
