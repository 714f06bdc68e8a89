/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers for decoding AArch64 instructions, which are 32-bit words. */
#ifndef LSMETER_AARCH64_WORDS_H
#define LSMETER_AARCH64_WORDS_H

#include <stdint.h>

/* Instructions are little-endian, whatever the data endianness. */
static inline uint32_t read_word(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

enum register_branch {
	BRANCH_NONE,
	BRANCH_TO,
	BRANCH_CALL,
	BRANCH_RETURN,
	BRANCH_EXCEPTION_RETURN,
};

/* Encoding class "unconditional branch (register)". */
static inline enum register_branch register_branch(uint32_t word)
{
	if ((word & 0xfe000000) != 0xd6000000)
		return BRANCH_NONE;
	switch (word >> 21 & 0xf) {
	case 0: case 8:			/* br; braa, brab */
		return BRANCH_TO;
	case 1: case 9:			/* blr; blraa, blrab */
		return BRANCH_CALL;
	case 2:				/* ret, retaa, retab */
		return BRANCH_RETURN;
	case 4:				/* eret, eretaa, eretab */
		return BRANCH_EXCEPTION_RETURN;
	}
	return BRANCH_NONE;
}

#endif
