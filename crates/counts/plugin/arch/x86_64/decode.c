// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes x86-64 instructions, and finds the context switch (__switch_to_asm). */
#include "arch.h"

#include <string.h>

#include "markers.h"
#include "prefixes.h"
#include "qemu_api.h"

static uint64_t relative(const uint8_t *at, size_t width, uint64_t next)
{
	int32_t offset = 0;

	if (width == 1)
		offset = (int8_t)at[0];
	else
		memcpy(&offset, at, sizeof(offset));
	return next + (uint64_t)(int64_t)offset;
}

/* Selects the memory access that happens exactly once in an iteration. */
static void decode_string(struct insn *insn, uint8_t opcode)
{
	insn->kind = INSN_REP;
	insn->accesses_per_iteration = 1;
	switch (opcode) {
	case 0xa4: case 0xa5:			/* movs */
	case 0xaa: case 0xab:			/* stos */
	case 0x6c: case 0x6d:			/* ins */
		insn->iteration_access = PLUGIN_MEM_WRITE;
		break;
	case 0xa6: case 0xa7:			/* cmps reads both sides */
		insn->accesses_per_iteration = 2;
		insn->iteration_access = PLUGIN_MEM_READ;
		break;
	default:				/* lods, scas, outs */
		insn->iteration_access = PLUGIN_MEM_READ;
	}
}

static int is_string_opcode(uint8_t opcode)
{
	return (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf) ||
	       (opcode >= 0x6c && opcode <= 0x6f);
}

static void decode_two_byte(struct insn *insn, const uint8_t *bytes, size_t size,
			    size_t at, uint64_t next)
{
	uint8_t opcode = bytes[at];

	if (opcode == 0x05) {
		insn->kind = INSN_SYSCALL;
	} else if (opcode == 0x07) {
		insn->kind = INSN_SYSRET;
	} else if (opcode >= 0x80 && opcode <= 0x8f) {
		insn->kind = INSN_BRANCH;
		if (at + 5 <= size)
			insn->target = relative(bytes + at + 1, 4, next);
	}
}

static void decode_group5(struct insn *insn, uint8_t modrm)
{
	switch ((modrm >> 3) & 7) {
	case 2: case 3:
		insn->kind = INSN_CALL;
		insn->indirect = true;
		break;
	case 4: case 5:
		insn->kind = INSN_BRANCH;
		insn->indirect = true;
		break;
	}
}

static struct insn decode_insn(const uint8_t *bytes, size_t size, uint64_t vaddr)
{
	static const uint8_t marker[] = { 0x0f, 0x1f, 0x84, 0x00 };
	struct insn insn = { .kind = INSN_PLAIN };
	uint64_t next = vaddr + size;
	struct prefixes prefixes;
	uint8_t opcode;
	size_t at;

	if (size == 8 && !memcmp(bytes, marker, sizeof(marker))) {
		uint32_t immediate;

		memcpy(&immediate, bytes + sizeof(marker), sizeof(immediate));
		if ((immediate & ~0xffu) == MARKER_MAGIC) {
			insn.kind = INSN_MARKER;
			insn.marker = immediate & 0xff;
		}
		return insn;
	}
	prefixes = read_prefixes(bytes, size);
	at = prefixes.opcode;
	if (at >= size)
		return insn;
	opcode = bytes[at];
	if (prefixes.rep && is_string_opcode(opcode)) {
		decode_string(&insn, opcode);
		return insn;
	}
	switch (opcode) {
	case 0x0f:
		if (at + 1 < size)
			decode_two_byte(&insn, bytes, size, at + 1, next);
		break;
	case 0xe8:
		insn.kind = INSN_CALL;
		if (at + 5 <= size)
			insn.target = relative(bytes + at + 1, 4, next);
		break;
	case 0xe9:
		insn.kind = INSN_BRANCH;
		if (at + 5 <= size)
			insn.target = relative(bytes + at + 1, 4, next);
		break;
	case 0xeb:
	case 0xe0 ... 0xe3:
	case 0x70 ... 0x7f:
		insn.kind = INSN_BRANCH;
		if (at + 2 <= size)
			insn.target = relative(bytes + at + 1, 1, next);
		break;
	case 0xc2: case 0xc3: case 0xca: case 0xcb:
		insn.kind = INSN_RET;
		insn.indirect = true;
		break;
	case 0xcf:
		insn.kind = INSN_IRET;
		break;
	case 0xff:
		if (at + 1 < size)
			decode_group5(&insn, bytes[at + 1]);
		break;
	}
	return insn;
}

/* __switch_to_asm pushes registers, then stores and loads the stack pointers. */
static bool stack_switched(uint64_t *from, bool store, uint64_t vaddr)
{
	if (store)
		*from = vaddr;
	return !store && *from;
}

const struct arch arch_x86_64 = {
	.target = "x86_64",
	.marker_size = 8,
	.decode = decode_insn,
	.effects = effects_x86_64,
	.linear_end = 0xffffc88000000000,
	.table_mask = 1 << 7,
	.stack_bytes = 16 << 10,
	.stack_switched = stack_switched,
	.pause = "\xf3\x90",
	.no_pause = "\x66\x90",
	.pause_size = 2,
};
