// SPDX-License-Identifier: GPL-2.0-or-later
#include "block.h"

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
 * block is counted as a whole when it begins; the next may begin inside it:
 *
 * - A REP instruction that ends a block begins the next one for each further iteration: one
 *   instruction, counted once.
 * - QEMU before 9 lists an instruction that straddles a page in a block, drops it, and begins the
 *   next block with it.
 * - Under icount, a block that turns out to do I/O ends there and restarts at that instruction.
 * - An exception leaves a block; after its iret the rest runs.
 *
 * A branch back into its own block is different: nothing was counted before.
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
