/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts a measured region: every kernel instruction from one marker to the next, except those of
 * interrupts.
 */
#ifndef LSMETER_WINDOW_H
#define LSMETER_WINDOW_H

#include "block.h"
#include "events.h"

/* A marker was executed. armed: blocks are already instrumented. */
void window_marker(uint32_t marker, bool armed);

/* A copy of the machine begins, and counts its own measurements from 0. */
void window_begin_copy(void);

/* A block begins. */
void window_block(struct block *block);

/* A memory access by the context switch code. */
void window_switch_access(bool store, uint64_t vaddr);

/* With events: an access by the current block. */
void window_memory(const struct access *access, bool store, uint64_t vaddr);

/* An access by an iteration of a REP instruction. */
void window_rep_access(unsigned int accesses_per_iteration);

#endif
