/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One task's way through the kernel's functions: a shadow stack that grows the tree of
 * calls while the task runs. src/walk.rs does the same with a trace, once it is told;
 * what is said there of calls, returns, tail calls and thunks holds here.
 */
#ifndef LSMETER_WALK_H
#define LSMETER_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "calls.h"

/* Exceptions inside interrupts inside exceptions …: deeper than any kernel goes. */
#define LEVELS_MAX	16

struct frame {
	uint64_t returns_to;	/* 0: not by a call */
	uint32_t node;
	bool tail;		/* by a jump, from the frame below */
	bool unnamed;		/* a call that has only reached a thunk yet */
};

/* How control left a block. */
struct leave {
	uint8_t how;		/* enum left */
	bool thunk;		/* LEFT_RETURN: a thunk's */
	uint64_t returns_to;	/* LEFT_CALL */
};

/* A way into the kernel that has not been left yet. */
struct level {
	const struct block *broken;	/* what ran before it */
	struct leave left;		/* how that had been left */
	bool between;			/* it was entered when that had come to its end */
	uint32_t base;			/* the node above its first function */
	uint32_t frames;		/* how many frames are below it */
	bool in_kernel;			/* it has no user mode to return to, or none that was seen */
};

struct walk {
	uint64_t stack_pointer_at;	/* where it is kept while another task runs, or 0 */
	uint32_t number;		/* of a measured task, from 1; 0: of another */
	uint32_t node;			/* its own, with its user instructions */
	uint32_t serial;		/* how many tasks had been prepared when it was */

	const struct block *previous;	/* last block counted, if it may go on */
	bool running;			/* the block before was ordinary */
	bool resumed;			/* the block to come is the rest of previous, or its handler */
	bool forks;			/* it is in a system call that creates tasks */
	bool sigreturn;			/* ... that ends a signal's handler */
	const struct block *cut;	/* in user mode, of which a signal's handler took the place */
	struct leave left;		/* of the block before */
	/* A system call that is not yet known: what was executed of it. */
	bool pending;
	uint32_t pending_count;
	struct pending {
		const struct block *block;
		uint32_t before;
	} *pending_blocks;		/* PENDING_MAX, or NULL before the first */

	uint32_t at;			/* the node whose function runs; not in user mode */
	uint32_t what;			/* what that is, or NOTHING: no function has been reached yet */
	struct level levels[LEVELS_MAX];
	uint32_t depth;			/* of levels; 0: user mode */
	struct frame *frames;
	uint32_t frame_count;
	uint32_t frame_size;
};

/* Calls nested deeper, or levels, than could be kept: counts are at the wrong node. */
extern bool walk_overflown;

/* No node is this: see CALLS_WHAT. */
#define NOTHING		UINT32_MAX

/* The node above the first function that was entered from user mode, which nothing called yet. */
void walk_set_base(struct walk *walk, uint32_t base);
/*
 * Breaks off what runs; functions are called below the node base from now on. between:
 * it came between two blocks, and the second one is still to come.
 */
void walk_enter(struct walk *walk, uint32_t base, bool between);
/* Goes on with what walk_enter() broke off. */
void walk_leave(struct walk *walk);
/* Goes on with user mode. */
void walk_leave_all(struct walk *walk);
/* Does the block, reached by a jump, belong to what ran before it? */
static inline bool walk_goes_on(const struct walk *walk, const struct block *block)
{
	return block->thunk || walk->what == CALLS_WHAT(CALLS_FUNCTION, block->function);
}

/* Where the block's end leads. */
static inline void walk_left(struct walk *walk, const struct block *block)
{
	walk->left = (struct leave){
		.how = block->left,
		.thunk = block->thunk,
		.returns_to = block->next,
	};
}

/* A block of the kernel runs, of whose instructions some were counted before. */
void walk_block(struct walk *walk, const struct block *block, uint32_t before);

#endif
