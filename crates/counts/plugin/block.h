/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A translated block as the counter sees it. Made once, at translation. */
#ifndef LSMETER_BLOCK_H
#define LSMETER_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "decode.h"

/* What an instruction of a block does: see struct effects. */
struct note {
	uint16_t position;	/* in the block, from 0 */
	uint16_t what;		/* NOTE_* */
};

#define NOTE_SERIALISES		1
#define NOTE_FLUSHES_TLB	2
#define NOTE_READS_CLOCK	4
#define NOTE_INDIRECT		8
#define NOTE_REP		16
#define NOTE_IRQS_OFF		32
#define NOTE_IRQS_ON		64

/* How control leaves a block, as far as a shadow stack must know. */
enum left {
	LEFT_JUMP,		/* nor called, nor returned: the same function, or a jump */
	LEFT_CALL,
	LEFT_RETURN,
	LEFT_INTERRUPT_RETURN,
};

/*
 * What is looked at whenever one begins stands first, in one line of the cache:
 * see new_block().
 */
struct block {
	uint64_t first;		/* address of the first instruction */
	uint64_t last;		/* address of the last instruction */
	uint64_t next;		/* address after it: where a call at the end returns to */
	uint32_t insns;
	/* Only where tasks are told apart (tasks.h): number of the function that it lies in */
	uint32_t function;
	bool kernel;		/* upper half of the address space */
	bool ordinary;		/* of the kernel; no interrupt, exception or task begins or ends */
	bool simple;		/* ... and tasks.c looks at nothing but its way to the next */
	bool thunk;
	uint8_t left;		/* enum left: how its end leaves it */
	bool entry;		/* calls of the function go here */
	uint8_t last_kind;	/* enum insn_kind */
	bool last_is_rep;
	bool indirect;		/* its end branches, calls or returns to anywhere */
	bool interrupt_entry;	/* an asynchronous interrupt begins here */
	bool exception_entry;	/* a synchronous exception begins here */
	bool context_switch;
	bool syscall;		/* a system call's own function begins here */
	bool forks;		/* ... which creates tasks */
	bool sigreturn;		/* ... which ends a signal's handler */
	bool copies_stack;	/* prepares a new task's stack */
	bool told;		/* the host knows it by its number */
	uint32_t number;	/* in traces, once told */
	uint64_t target;	/* direct branch at the end: where to; else 0 (also if its bytes are not at hand) */
	/* Only where events are counted (events.h) */
	struct note *notes;
	uint8_t note_count;
	uint8_t sizes[];	/* bytes of each instruction */
};

/* Instructions from address to the block's end; 0 if address is not inside. */
uint32_t block_rest(const struct block *block, uint64_t address);

/* See counted_before(). */
uint32_t block_counted_before(const struct block *previous, const struct block *block,
			      bool resumed);

/* Does a block begin at an instruction of the one before it? */
static inline bool begins_inside(const struct block *previous, const struct block *block)
{
	return block->first - previous->first <= previous->last - previous->first;
}

/* None of the block was counted with the one before, if nothing broke that off. */
static inline bool is_begun_anew(const struct block *previous, const struct block *block)
{
	return !begins_inside(previous, block) || block->first == previous->target;
}

/* A REP instruction alone, which only goes on: of long copies that is nearly every block. */
static inline bool is_one_more_iteration(const struct block *previous, const struct block *block)
{
	return previous == block && block->last_is_rep && block->insns == 1;
}

/*
 * How many of a block's instructions were counted with the block before it, which
 * was counted whole when it began. resumed: what broke the block before off is over.
 */
static inline uint32_t counted_before(const struct block *previous, const struct block *block,
				      bool resumed)
{
	if (previous && begins_inside(previous, block))
		return block_counted_before(previous, block, resumed);
	return 0;
}

#endif
