// SPDX-License-Identifier: GPL-2.0-or-later
/* Costly effects of x86-64 instructions: Intel SDM volume 2, appendix A (opcode maps). */
#include "arch.h"

#include "prefixes.h"

struct modrm {
	bool memory;
	unsigned int reg;	/* or the opcode's extension */
	uint8_t byte;
};

static struct modrm modrm_at(const uint8_t *bytes, size_t size, size_t at)
{
	uint8_t byte = at < size ? bytes[at] : 0xc0;

	return (struct modrm){
		.memory = at < size && byte >> 6 != 3,
		.reg = byte >> 3 & 7,
		.byte = byte,
	};
}

/* Whether a lock prefix is allowed. */
static bool is_lockable(uint8_t opcode, struct modrm modrm)
{
	if (!modrm.memory)
		return false;
	switch (opcode) {
	case 0x00: case 0x01: case 0x08: case 0x09:	/* add, or */
	case 0x10: case 0x11: case 0x18: case 0x19:	/* adc, sbb */
	case 0x20: case 0x21: case 0x28: case 0x29:	/* and, sub */
	case 0x30: case 0x31:				/* xor */
		return true;
	case 0x80: case 0x81: case 0x83:		/* the same with an immediate; 7: cmp */
		return modrm.reg != 7;
	case 0xf6: case 0xf7:				/* not, neg */
		return modrm.reg == 2 || modrm.reg == 3;
	case 0xfe: case 0xff:				/* inc, dec */
		return modrm.reg < 2;
	}
	return false;
}

static bool is_lockable_two_byte(uint8_t opcode, struct modrm modrm)
{
	if (!modrm.memory)
		return false;
	switch (opcode) {
	case 0xab: case 0xb3: case 0xbb:		/* bts, btr, btc */
	case 0xb0: case 0xb1:				/* cmpxchg */
	case 0xc0: case 0xc1:				/* xadd */
		return true;
	case 0xba:					/* bts, btr, btc with an immediate */
		return modrm.reg >= 5;
	case 0xc7:					/* cmpxchg8b, cmpxchg16b */
		return modrm.reg == 1;
	}
	return false;
}

static void two_byte(struct effects *effects, const uint8_t *bytes, size_t size, size_t at,
		     bool locked)
{
	struct modrm modrm = modrm_at(bytes, size, at + 1);

	effects->atomic = locked && is_lockable_two_byte(bytes[at], modrm);
	switch (bytes[at]) {
	case 0x00:					/* lldt, ltr */
		effects->serialises = modrm.reg == 2 || modrm.reg == 3;
		break;
	case 0x01:					/* lgdt, lidt, invlpg, serialize, rdtscp */
		effects->flushes_tlb = modrm.memory && modrm.reg == 7;
		effects->serialises = (modrm.memory && (modrm.reg == 2 || modrm.reg == 3)) ||
				      effects->flushes_tlb || modrm.byte == 0xe8;
		effects->reads_clock = modrm.byte == 0xf9;
		break;
	case 0x08: case 0x09:				/* invd, wbinvd */
	case 0x23:					/* mov to a debug register */
	case 0x30:					/* wrmsr */
	case 0xa2:					/* cpuid */
		effects->serialises = true;
		break;
	case 0x22:					/* mov to a control register */
		effects->serialises = true;
		effects->flushes_tlb = modrm.reg == 3;
		break;
	case 0x31:					/* rdtsc */
		effects->reads_clock = true;
		break;
	case 0x38:					/* invpcid is 66 0f 38 82 */
		if (at + 1 < size && bytes[at + 1] == 0x82)
			effects->serialises = effects->flushes_tlb = true;
		break;
	case 0xa0: case 0xa8:				/* push of a segment register */
		effects->pushes = true;
		break;
	case 0xae:					/* lfence, mfence */
		effects->serialises = !modrm.memory && (modrm.reg == 5 || modrm.reg == 6);
		break;
	}
}

static uint8_t string_bytes(uint8_t opcode, struct prefixes prefixes)
{
	bool in_or_out = opcode >= 0x6c && opcode <= 0x6f;

	if (!in_or_out && (opcode < 0xa4 || opcode > 0xaf || opcode == 0xa8 || opcode == 0xa9))
		return 0;
	if (!(opcode & 1))
		return 1;
	if (prefixes.wide && !in_or_out)
		return 8;
	return prefixes.small ? 2 : 4;
}

struct effects effects_x86_64(const uint8_t *bytes, size_t size)
{
	struct prefixes prefixes = read_prefixes(bytes, size);
	/*
	 * On one processor Linux patches lock to ds (SMP alternatives,
	 * arch/x86/kernel/alternative.c). Compilers do not emit ds before these instructions.
	 */
	bool locked = prefixes.lock || prefixes.data_segment;
	struct effects effects = { .per_cpu = prefixes.per_cpu_segment };
	size_t at = prefixes.opcode;
	struct modrm modrm;
	uint8_t opcode;

	if (at >= size)
		return effects;
	opcode = bytes[at];
	modrm = modrm_at(bytes, size, at + 1);
	if (prefixes.rep)
		effects.iteration_bytes = string_bytes(opcode, prefixes);
	effects.atomic = locked && is_lockable(opcode, modrm);
	switch (opcode) {
	case 0x0f:
		if (at + 1 < size)
			two_byte(&effects, bytes, size, at + 1, locked);
		break;
	case 0x50 ... 0x57: case 0x68: case 0x6a: case 0x9c:	/* push */
	case 0xe8:						/* call */
		effects.pushes = true;
		break;
	case 0x86: case 0x87:				/* xchg is atomic even without lock */
		effects.atomic = modrm.memory;
		break;
	case 0xfa:					/* cli */
		effects.irqs_off = true;
		break;
	case 0x9d:					/* popf: before 5.12 */
	case 0xfb:					/* sti */
		effects.irqs_on = true;
		break;
	case 0xcf:					/* iret */
		effects.serialises = true;
		break;
	case 0xff:
		effects.indirect = modrm.reg >= 2 && modrm.reg <= 5;
		effects.pushes = modrm.reg == 2 || modrm.reg == 6;
		break;
	}
	return effects;
}
