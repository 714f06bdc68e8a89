/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts a measured region: every kernel instruction from one marker to the next, except
 * instructions of interrupts.
 */
#ifndef LSMETER_WINDOW_H
#define LSMETER_WINDOW_H

#include "block.h"
#include "events.h"
#include "transfers.h"

/* A marker was executed. armed: blocks are already instrumented. */
void window_marker(unsigned int processor, uint32_t marker, bool armed);

/* The processor that opened the region; others run meanwhile, and do not count. */
extern unsigned int window_processor;

/* A copy of the machine begins, and counts its own measurements from 0. */
void window_begin_copy(void);

/* A block begins. */
void window_block(struct block *block);

/* A memory access by the context switch code. */
void window_switch_access(bool store, uint64_t vaddr);

/* With events: an access by the current block. */
void window_memory(const struct access *access, bool store, uint64_t vaddr);

/* With transfers (transfers.h): one or several by the current block's instruction at address. */
void window_transfers(const struct transfers *transfers, uint64_t address, uint64_t vaddr,
		      uint64_t physical);

/* An access by an iteration of a REP instruction. */
void window_rep_access(unsigned int accesses_per_iteration);

#endif
