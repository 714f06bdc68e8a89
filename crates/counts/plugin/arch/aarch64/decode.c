// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes AArch64 instructions, and finds the context switch (cpu_switch_to): Arm Architecture
 * Reference Manual, C4.1 (encoding index).
 */
#include "arch.h"

#include "markers.h"
#include "words.h"

/* The branch target from the immediate of width bits at bit at, in instructions. */
static uint64_t relative(uint32_t word, unsigned int at, unsigned int width, uint64_t vaddr)
{
	int32_t offset = (int32_t)(word << (32 - width - at)) >> (32 - width);

	return vaddr + (uint64_t)((int64_t)offset * 4);
}

/* br, blr, ret, eret, and their variants with pointer authentication. */
static void decode_register(struct insn *insn, uint32_t word)
{
	insn->indirect = true;
	switch (register_branch(word)) {
	case BRANCH_TO:
		insn->kind = INSN_BRANCH;
		break;
	case BRANCH_CALL:
		insn->kind = INSN_CALL;
		break;
	case BRANCH_RETURN:
		insn->kind = INSN_RET;
		break;
	case BRANCH_EXCEPTION_RETURN:
		insn->kind = INSN_IRET;
		insn->indirect = false;
		break;
	default:
		insn->indirect = false;
	}
}

static struct insn decode_insn(const uint8_t *bytes, size_t size, uint64_t vaddr)
{
	struct insn insn = { .kind = INSN_PLAIN };
	uint32_t word;

	if (size != sizeof(word))
		return insn;
	word = read_word(bytes);
	/* movz xzr, #0x5cKK, lsl #48 */
	if ((word & 0xffe0001f) == 0xd2e0001f) {
		if ((word >> 13 & 0xff) == 0x5c) {
			insn.kind = INSN_MARKER;
			insn.marker = word >> 5 & 0xff;
		}
	} else if ((word & 0x7c000000) == 0x14000000) {		/* b, bl */
		insn.kind = word >> 31 ? INSN_CALL : INSN_BRANCH;
		insn.target = relative(word, 0, 26, vaddr);
	} else if ((word & 0xff000000) == 0x54000000 ||		/* b.cond, bc.cond */
		   (word & 0x7e000000) == 0x34000000) {		/* cbz, cbnz */
		insn.kind = INSN_BRANCH;
		insn.target = relative(word, 5, 19, vaddr);
	} else if ((word & 0x7e000000) == 0x36000000) {		/* tbz, tbnz */
		insn.kind = INSN_BRANCH;
		insn.target = relative(word, 5, 14, vaddr);
	} else if ((word & 0xfe000000) == 0xd6000000) {
		decode_register(&insn, word);
	} else if ((word & 0xffe0001f) == 0xd4000001) {		/* svc */
		insn.kind = INSN_SYSCALL;
	}
	return insn;
}

/*
 * cpu_switch_to stores registers, including the stack pointer, at consecutive addresses. The first
 * store and the first load are used in its place.
 */
static bool stack_switched(uint64_t *from, bool store, uint64_t vaddr)
{
	if (store && !*from)
		*from = vaddr;
	return !store && *from;
}

const struct arch arch_aarch64 = {
	.target = "aarch64",
	.marker_size = 4,
	.decode = decode_insn,
	.effects = effects_aarch64,
	.memory_start = 1 << 30,
	.linear_end = 0xffff800000000000,
	.table_mask = 1 << 1,
	.table = 1 << 1,
	.stack_bytes = 16 << 10,
	.stack_switched = stack_switched,
	.pause = "\x3f\x20\x03\xd5",
	.no_pause = "\x1f\x20\x03\xd5",
	.pause_size = 4,
};
