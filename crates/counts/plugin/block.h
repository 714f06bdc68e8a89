/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A translated block, made once at translation. */
#ifndef LSMETER_BLOCK_H
#define LSMETER_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "decode.h"

/* Effects of one instruction in a block: see struct effects. */
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

/* How control leaves a block, as far as the shadow stack needs to know. */
enum left {
	LEFT_JUMP,		/* neither a call nor a return: stays in the function, or jumps */
	LEFT_CALL,
	LEFT_RETURN,
	LEFT_INTERRUPT_RETURN,
};

/* Fields used at each execution come first, within one cache line: see block_new(). */
struct block {
	uint64_t first;		/* address of the first instruction */
	uint64_t last;		/* address of the last instruction */
	uint64_t next;		/* address after it: the return address of a call at the end */
	uint32_t insns;
	/* Only for whole programs (tasks.h): the number of the containing function */
	uint32_t function;
	bool kernel;		/* upper half of the address space */
	bool ordinary;		/* kernel code; no interrupt, exception or task begins or ends */
	bool simple;		/* ... and tasks.c only follows it to the next block */
	bool thunk;
	uint8_t left;		/* enum left */
	bool entry;		/* calls of the function go here */
	uint8_t last_kind;	/* enum insn_kind */
	bool last_is_rep;
	bool indirect;		/* ends with an indirect branch, call or return */
	bool interrupt_entry;	/* an asynchronous interrupt begins here */
	bool exception_entry;	/* a synchronous exception begins here */
	bool context_switch;
	bool syscall;		/* a system call's own function begins here */
	bool forks;		/* ... that creates tasks */
	bool sigreturn;		/* ... that ends a signal handler */
	bool copies_stack;	/* prepares a new task's stack */
	bool told;		/* its RECORD_BLOCK was written */
	uint32_t number;	/* in traces, once written */
	uint64_t target;	/* target of a direct branch at the end, or 0 */
	/* Only if events are counted (events.h) */
	struct note *notes;
	uint8_t note_count;
	uint8_t sizes[];	/* bytes of each instruction */
};

/* A zeroed block, which is never freed. */
struct block *block_new(size_t insns);
/* How an instruction of this kind (enum insn_kind) leaves a block that it ends. */
enum left block_left_by(uint8_t insn_kind);

/* Instructions from address to the block's end; 0 if address is outside. */
uint32_t block_rest(const struct block *block, uint64_t address);

/* See counted_before(). */
uint32_t block_counted_before(const struct block *previous, const struct block *block,
			      bool resumed);

/* Whether a block begins at an instruction of the previous one. */
static inline bool begins_inside(const struct block *previous, const struct block *block)
{
	return block->first - previous->first <= previous->last - previous->first;
}

/*
 * Whether the block was not counted with the previous one, provided that nothing interrupted the
 * previous one.
 */
static inline bool is_begun_anew(const struct block *previous, const struct block *block)
{
	return !begins_inside(previous, block) || block->first == previous->target;
}

/*
 * Whether this is a single REP instruction that continues, like nearly every block of a long copy.
 */
static inline bool is_one_more_iteration(const struct block *previous, const struct block *block)
{
	return previous == block && block->last_is_rep && block->insns == 1;
}

/*
 * The number of the block's instructions that were counted with the previous block, which was
 * counted completely when it began. resumed: the interruption of the previous block is over.
 */
static inline uint32_t counted_before(const struct block *previous, const struct block *block,
				      bool resumed)
{
	if (previous && begins_inside(previous, block))
		return block_counted_before(previous, block, resumed);
	return 0;
}

#endif
