/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One task's path through kernel functions: a shadow stack that extends the call tree while the
 * task runs. src/walk.rs does the same for a finished trace; its documentation of calls, returns,
 * tail calls and thunks applies here.
 */
#ifndef LSMETER_WALK_H
#define LSMETER_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "calls.h"

/* The depth of exceptions inside interrupts inside exceptions; no kernel nests them this deeply. */
#define LEVELS_MAX	16

struct frame {
	uint64_t returns_to;	/* 0: not by a call */
	uint32_t node;
	bool tail;		/* by a jump, from the frame below */
	bool unnamed;		/* a call that has only reached a thunk so far */
};

/* How control left a block. */
struct leave {
	uint8_t how;		/* enum left */
	bool thunk;		/* LEFT_RETURN: of a thunk */
	uint64_t returns_to;	/* LEFT_CALL */
};

/* A kernel entry that has not returned yet. */
struct level {
	const struct block *broken;	/* the interrupted block */
	struct leave left;		/* how that block was left */
	bool between;			/* entered after that block's end */
	bool resumed;			/* ... or before the rest of it ran */
	uint32_t base;			/* the node above its first function */
	uint32_t frames;		/* number of frames below it */
	bool in_kernel;			/* no user mode to return to, or none seen */
};

struct walk {
	uint64_t stack_pointer_at;	/* location while another task runs, or 0 */
	uint32_t number;		/* of a measured task, from 1; 0: of another */
	uint32_t node;			/* the task's, with its user instructions */
	uint32_t serial;		/* number of tasks prepared before it */

	const struct block *previous;	/* last block counted, if it may continue */
	bool running;			/* the previous block was ordinary */
	bool resumed;			/* the next block is the rest of previous, or its handler */
	bool forks;			/* in a system call that creates tasks */
	bool sigreturn;			/* ... that ends a signal handler */
	const struct block *cut;	/* user block interrupted by a signal handler */
	struct leave left;		/* of the previous block */
	/* Blocks of a system call that is not yet identified. */
	bool pending;
	uint32_t pending_count;
	struct pending {
		const struct block *block;
		uint32_t before;
	} *pending_blocks;		/* PENDING_MAX, or NULL before the first */

	uint32_t at;			/* node of the current function; not in user mode */
	uint32_t what;			/* its kind and number; NOTHING: no function yet */
	struct level levels[LEVELS_MAX];
	uint32_t depth;			/* number of levels; 0: user mode */
	struct frame *frames;
	uint32_t frame_count;
	uint32_t frame_size;
};

/* Whether calls or levels were nested too deeply, so that counts are at the wrong node. */
extern bool walk_overflown;

/* This is not a node: see CALLS_WHAT. */
#define NOTHING		UINT32_MAX

/* Sets the node above the first function entered from user mode. */
void walk_set_base(struct walk *walk, uint32_t base);
/*
 * Interrupts the current code; functions are called below base from now on. between: the interrupt
 * came between two blocks, the second of which is still to come.
 */
void walk_enter(struct walk *walk, uint32_t base, bool between);
/* Continues the code that walk_enter() interrupted. */
void walk_leave(struct walk *walk);
/* Continues in user mode. */
void walk_leave_all(struct walk *walk);
/* Whether the block, reached by a jump, belongs to the interrupted code. */
static inline bool walk_goes_on(const struct walk *walk, const struct block *block)
{
	return block->thunk || walk->what == CALLS_WHAT(CALLS_FUNCTION, block->function);
}

/* Records how the block ended. */
static inline void walk_left(struct walk *walk, const struct block *block)
{
	walk->left = (struct leave){
		.how = block->left,
		.thunk = block->thunk,
		.returns_to = block->next,
	};
}

/* Counts a kernel block; before: instructions already counted. */
void walk_block(struct walk *walk, const struct block *block, uint32_t before);

#endif
