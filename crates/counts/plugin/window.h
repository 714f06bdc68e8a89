/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting inside a window: from one marker to the next, every instruction that
 * the guest executes in its kernel, less what interrupts do.
 */
#ifndef LSMETER_WINDOW_H
#define LSMETER_WINDOW_H

#include "block.h"
#include "events.h"

/* A marker was executed. armed: blocks are instrumented by now. */
void window_marker(uint32_t marker, bool armed);

/* A copy of the machine counts its own cells. */
void window_begin_copy(void);

/* A block begins. */
void window_block(struct block *block);

/* An access to memory of the context switch's code. */
void window_switch_access(bool store, uint64_t vaddr);

/* Where events are counted: an access of the block that runs. */
void window_memory(const struct access *access, bool store, uint64_t vaddr);

/* A REP instruction's iterating access to memory. */
void window_rep_access(unsigned int accesses_per_iteration);

#endif
