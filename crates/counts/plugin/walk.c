// SPDX-License-Identifier: GPL-2.0-or-later
#include "walk.h"

#include <stdlib.h>

#include "calls.h"

/* Deepest stack that is followed; the kernel's stack is 16 KiB. */
#define FRAMES_MAX	4096u

bool walk_overflown;

static uint32_t lowest(const struct walk *walk)
{
	return walk->levels[walk->depth - 1].frames;
}

static struct frame *top(const struct walk *walk)
{
	return walk->frame_count > lowest(walk) ? &walk->frames[walk->frame_count - 1] : NULL;
}

static void look_at(struct walk *walk, const struct frame *frame)
{
	walk->at = frame->node;
	walk->what = frame->unnamed ? NOTHING : calls[frame->node].what;
}

/* Updates the state after frames or levels were removed, or a level was added. */
static void look_at_top(struct walk *walk)
{
	const struct frame *frame;

	walk->what = NOTHING;
	if (!walk->depth)
		return;
	frame = top(walk);
	if (frame)
		look_at(walk, frame);
	else
		walk->at = walk->levels[walk->depth - 1].base;
}

void walk_set_base(struct walk *walk, uint32_t base)
{
	walk->levels[0].base = base;
	look_at_top(walk);
}

void walk_enter(struct walk *walk, uint32_t base, bool between)
{
	if (walk->depth == LEVELS_MAX) {
		walk_overflown = true;
		return;
	}
	walk->levels[walk->depth++] = (struct level){
		.broken = walk->previous,
		.left = between ? walk->left : (struct leave){ .how = LEFT_JUMP },
		.between = between,
		.resumed = walk->resumed,
		.base = base,
		.frames = walk->frame_count,
	};
	walk->previous = NULL;
	walk->resumed = false;
	walk->left.how = LEFT_JUMP;
	look_at_top(walk);
}

void walk_leave(struct walk *walk)
{
	const struct level *level = &walk->levels[--walk->depth];

	walk->frame_count = level->frames;
	walk->previous = level->broken;
	walk->resumed = !level->between || level->resumed;
	walk->left = level->left;
	look_at_top(walk);
}

void walk_leave_all(struct walk *walk)
{
	if (walk->depth) {
		walk->depth = 1;
		walk_leave(walk);
	}
	walk->running = false;
}

static void push(struct walk *walk, struct frame frame)
{
	if (walk->frame_count == walk->frame_size) {
		uint32_t size = walk->frame_size ? 2 * walk->frame_size : 64;

		if (size > FRAMES_MAX) {
			walk_overflown = true;
			return;
		}
		walk->frames = realloc(walk->frames, size * sizeof(*walk->frames));
		if (!walk->frames)
			abort();
		walk->frame_size = size;
	}
	walk->frames[walk->frame_count++] = frame;
	look_at(walk, &frame);
}

/* Finds the node of the block's function below parent, and counts a call. */
static uint32_t called(uint32_t parent, const struct block *block)
{
	uint32_t node = calls_child(parent, CALLS_WHAT(CALLS_FUNCTION, block->function));

	calls[node].calls++;
	return node;
}

static bool is_of(uint32_t node, const struct block *block)
{
	return calls[node].what == CALLS_WHAT(CALLS_FUNCTION, block->function);
}

static void call(struct walk *walk, const struct block *block)
{
	uint32_t node = walk->at;
	/* Thunks, and code that fills the return stack buffer, call into their own code. */
	bool inside = is_of(node, block) && !block->entry;

	if (!block->thunk && !inside)
		node = called(node, block);
	push(walk, (struct frame){
		.returns_to = walk->left.returns_to,
		.node = node,
		.unnamed = block->thunk,
	});
}

/* Control reached the block's function without a matching call or return. */
static void jump(struct walk *walk, const struct block *block)
{
	struct frame *frame = top(walk);
	uint32_t i;

	if (block->thunk)
		return;
	if (!frame) {
		push(walk, (struct frame){
			.node = called(walk->at, block),
		});
		return;
	}
	if (frame->unnamed) {
		frame->node = called(frame->node, block);
		frame->unnamed = false;
		look_at(walk, frame);
		return;
	}
	if (is_of(frame->node, block))
		return;
	/* Control returns to a function that jumped here, as assembly and compilers do. */
	for (i = walk->frame_count; i-- > lowest(walk);) {
		if (is_of(walk->frames[i].node, block)) {
			walk->frame_count = i + 1;
			look_at_top(walk);
			return;
		}
		if (!walk->frames[i].tail)
			break;
	}
	push(walk, (struct frame){
		.node = called(frame->node, block),
		.tail = true,
	});
}

static void return_to(struct walk *walk, const struct block *block)
{
	uint32_t i;

	for (i = walk->frame_count; i-- > lowest(walk);) {
		if (walk->frames[i].returns_to == block->first) {
			walk->frame_count = i;
			look_at_top(walk);
			jump(walk, block);
			return;
		}
	}
	/* The return leads to a caller from before the region. */
	if (!walk->left.thunk && !block->entry) {
		walk->frame_count = lowest(walk);
		look_at_top(walk);
	}
	jump(walk, block);
}

void walk_block(struct walk *walk, const struct block *block, uint32_t before)
{
	/* A block that was cut off before its end did not leave the function; it continues here. */
	if (before)
		walk->left.how = LEFT_JUMP;
	switch (walk->left.how) {
	case LEFT_CALL:
		call(walk, block);
		break;
	case LEFT_RETURN:
		return_to(walk, block);
		break;
	default:
		if (!walk_goes_on(walk, block))
			jump(walk, block);
	}
	calls[walk->at].instructions += block->insns - before;
	walk_left(walk, block);
}
