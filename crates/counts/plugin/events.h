/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events: costs that instruction counts hide. Effects of a block's instructions are written once,
 * with the block. Their memory accesses are in the region's trace, between its blocks (trace.h).
 */
#ifndef LSMETER_EVENTS_H
#define LSMETER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "decode.h"

/* Enables traces with events. */
void events_enable(void);
extern bool events_are_enabled;
static inline bool events_enabled(void)
{
	return events_are_enabled;
}

/* How an instruction accesses memory, determined at translation. */
struct access {
	bool atomic;
	bool pushes;
	bool per_cpu;
	bool rep;
	bool rep_store;			/* the access that happens once per iteration */
	uint8_t half_bytes;		/* of that access */
};

const struct access *events_access(const struct effects *effects, const struct insn *insn);

void events_begin_window(void);
/* A block begins, other than a further iteration of the previous REP instruction. */
void events_block(void);
/* A memory access by the current block. */
void events_memory(const struct access *access, bool store, uint64_t vaddr);

/* Records the effects of the instruction at position. */
void events_note(struct block *block, uint32_t position, const struct effects *effects);
/* Writes the block's notes. */
void events_describe(const struct block *block);

#endif
