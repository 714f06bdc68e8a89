// SPDX-License-Identifier: GPL-2.0-or-later
#include "block.h"

#include <stdlib.h>
#include <string.h>

uint32_t block_rest(const struct block *block, uint64_t address)
{
	uint64_t at = block->first;
	uint32_t i;

	if (address < block->first || address > block->last)
		return 0;
	for (i = 0; i < block->insns; i++) {
		if (at == address)
			return block->insns - i;
		at += block->sizes[i];
	}
	return 0;
}

/*
 * Returns how many instructions at the start of this block were counted with the previous one. A
 * block is counted completely when it begins, but the next block may begin inside it:
 *
 * - A REP instruction at the end of a block begins a new block for each further iteration. It is
 *   one instruction, and counts once.
 * - QEMU before 9 lists an instruction that straddles a page in a block, drops it, and begins the
 *   next block with it.
 * - Under icount, a block that turns out to do I/O ends there and restarts at that instruction.
 * - An exception leaves a block; after its iret, the rest of the block runs.
 *
 * A branch back into its own block is different, because nothing was counted before.
 */
uint32_t block_counted_before(const struct block *previous, const struct block *block,
			      bool resumed)
{
	if (block->first == previous->target)
		return 0;
	if (!resumed && previous->indirect)
		return 0;
	if (block->first == previous->first && !resumed && !previous->last_is_rep)
		return 0;
	return block_rest(previous, block->first);
}

/* Host cache line. */
#define LINE	64u

/*
 * Blocks live as long as the translations that refer to them, and QEMU does not report when these
 * end. They are small; one experiment makes about 100,000.
 */
struct block *block_new(size_t insns)
{
	static char *chunk;
	static size_t left;
	size_t size = (offsetof(struct block, sizes) + insns + LINE - 1) & ~(size_t)(LINE - 1);
	struct block *block;

	if (size > left) {
		left = 1 << 20;
		chunk = aligned_alloc(LINE, left);
		if (!chunk)
			abort();
	}
	block = (struct block *)chunk;
	chunk += size;
	left -= size;
	memset(block, 0, size);
	return block;
}

enum left block_left_by(uint8_t insn_kind)
{
	switch (insn_kind) {
	case INSN_CALL:
		return LEFT_CALL;
	case INSN_RET:
		return LEFT_RETURN;
	case INSN_IRET:
		return LEFT_INTERRUPT_RETURN;
	default:
		return LEFT_JUMP;
	}
}
