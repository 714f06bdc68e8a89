// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes AArch64 instructions as an assembler encodes them, and prints those that were decoded
 * incorrectly.
 */
#include <stdio.h>
#include <string.h>

#include "arch.h"

/* Address of each instruction. */
#define HERE	0xffff800080001000

#define BRANCH(to)	{ .kind = INSN_BRANCH, .target = (to) }
#define CALL(to)	{ .kind = INSN_CALL, .target = (to) }
#define INDIRECT(what)	{ .kind = (what), .indirect = true }

static const struct {
	const char *text;
	uint32_t word;
	struct insn insn;
	struct effects effects;
} cases[] = {
	{ "marker", 0xd2eb80ff, { .kind = INSN_MARKER, .marker = 7 }, { 0 } },
	{ "movz xzr of another number", 0xd2eba0ff, { 0 }, { 0 } },
	{ "movz x0", 0xd2eb80e0, { 0 }, { 0 } },
	{ "movz xzr, lsl #32", 0xd2cb80ff, { 0 }, { 0 } },
	{ "b back", 0x17fffffe, BRANCH(HERE - 8), { 0 } },
	{ "b on", 0x140003ff, BRANCH(HERE + 0xffc), { 0 } },
	{ "b, the furthest back", 0x16000000, BRANCH(HERE - (128 << 20)), { 0 } },
	{ "bl on", 0x94000002, CALL(HERE + 8), { 0 } },
	{ "b.ne", 0x54ffffc1, BRANCH(HERE - 8), { 0 } },
	{ "cbz x3", 0xb4ffff83, BRANCH(HERE - 0x10), { 0 } },
	{ "cbnz w3", 0x35ffff63, BRANCH(HERE - 0x14), { 0 } },
	{ "tbz x1, #40", 0xb647ff41, BRANCH(HERE - 0x18), { 0 } },
	{ "tbnz w1, #3", 0x371fff21, BRANCH(HERE - 0x1c), { 0 } },
	{ "br x16", 0xd61f0200, INDIRECT(INSN_BRANCH), { .indirect = true } },
	{ "braa x1, x2", 0xd71f0822, INDIRECT(INSN_BRANCH), { .indirect = true } },
	{ "blr x16", 0xd63f0200, INDIRECT(INSN_CALL), { .indirect = true } },
	{ "blraa x1, x2", 0xd73f0822, INDIRECT(INSN_CALL), { .indirect = true } },
	{ "blraaz x1", 0xd63f083f, INDIRECT(INSN_CALL), { .indirect = true } },
	{ "ret", 0xd65f03c0, INDIRECT(INSN_RET), { 0 } },
	{ "ret x5", 0xd65f00a0, INDIRECT(INSN_RET), { 0 } },
	{ "retaa", 0xd65f0bff, INDIRECT(INSN_RET), { 0 } },
	{ "eret", 0xd69f03e0, { .kind = INSN_IRET }, { .serialises = true } },
	{ "eretaa", 0xd69f0bff, { .kind = INSN_IRET }, { .serialises = true } },
	{ "svc #0", 0xd4000001, { .kind = INSN_SYSCALL }, { 0 } },
	{ "hvc #0", 0xd4000002, { 0 }, { 0 } },
	{ "brk #0", 0xd4200000, { 0 }, { 0 } },
	{ "bti c", 0xd503245f, { 0 }, { 0 } },
	{ "paciasp", 0xd503233f, { 0 }, { 0 } },
	{ "ldadd x1, x2, [x3]", 0xf8210062, { 0 }, { .atomic = true } },
	{ "swpal w1, w2, [x3]", 0xb8e18062, { 0 }, { .atomic = true } },
	{ "stset x1, [x3]", 0xf821307f, { 0 }, { .atomic = true } },
	{ "ldapr x1, [x3]", 0xf8bfc061, { 0 }, { 0 } },
	{ "cas x1, x2, [x3]", 0xc8a17c62, { 0 }, { .atomic = true } },
	{ "casp x0, x1, x2, x3, [x4]", 0x48207c82, { 0 }, { .atomic = true } },
	{ "ldxr x1, [x2]", 0xc85f7c41, { 0 }, { 0 } },
	{ "stxr w0, x1, [x2]", 0xc8007c41, { 0 }, { .atomic = true } },
	{ "stlxr w0, w1, [x2]", 0x8800fc41, { 0 }, { .atomic = true } },
	{ "stxp w0, x1, x2, [x3]", 0xc8200861, { 0 }, { .atomic = true } },
	{ "stlr x1, [x2]", 0xc89ffc41, { 0 }, { 0 } },
	{ "ldar x1, [x2]", 0xc8dffc41, { 0 }, { 0 } },
	{ "stp x29, x30, [sp, #-16]!", 0xa9bf7bfd, { 0 }, { .pushes = true } },
	{ "stp x29, x30, [sp, #16]", 0xa9017bfd, { 0 }, { 0 } },
	{ "stp x29, x30, [x8], #16", 0xa881791d, { 0 }, { 0 } },
	{ "str x0, [sp, #-16]!", 0xf81f0fe0, { 0 }, { .pushes = true } },
	{ "str x0, [x1, #-16]!", 0xf81f0c20, { 0 }, { 0 } },
	{ "ldp x29, x30, [sp], #16", 0xa8c17bfd, { 0 }, { 0 } },
	{ "isb", 0xd5033fdf, { 0 }, { .serialises = true } },
	{ "dsb sy", 0xd5033f9f, { 0 }, { .serialises = true } },
	{ "dmb ish", 0xd5033bbf, { 0 }, { 0 } },
	{ "tlbi vmalle1is", 0xd508831f, { 0 }, { .flushes_tlb = true } },
	{ "tlbi vae1is, x0", 0xd5088320, { 0 }, { .flushes_tlb = true } },
	{ "mrs x0, cntvct_el0", 0xd53be040, { 0 }, { .reads_clock = true } },
	{ "mrs x0, cntpct_el0", 0xd53be020, { 0 }, { .reads_clock = true } },
	{ "mrs x0, cntfrq_el0", 0xd53be000, { 0 }, { 0 } },
	{ "msr daifset, #2", 0xd50342df, { 0 }, { .irqs_off = true } },
	{ "msr daifset, #1", 0xd50341df, { 0 }, { 0 } },
	{ "msr daifclr, #3", 0xd50343ff, { 0 }, { .irqs_on = true } },
	{ "msr daif, x3", 0xd51b4223, { 0 }, { .irqs_on = true } },
	{ "mrs x3, daif", 0xd53b4223, { 0 }, { 0 } },
	{ "msr ttbr1_el1, x0", 0xd5182020, { 0 }, { 0 } },
	{ "ldr x0, [x1, x2]", 0xf8626820, { 0 }, { 0 } },
};

static int is_wrong(uint32_t word, size_t size, const struct insn *insn,
		    const struct effects *effects)
{
	uint8_t bytes[INSN_MAX] = { word, word >> 8, word >> 16, word >> 24 };
	struct insn read = arch_aarch64.decode(bytes, size, HERE);
	struct effects does = effects_aarch64(bytes, size);

	return read.kind != insn->kind || read.marker != insn->marker ||
	       read.target != insn->target || read.indirect != insn->indirect ||
	       memcmp(&does, effects, sizeof(does));
}

int main(void)
{
	static const struct effects nothing;
	static const struct insn plain;
	int wrong = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (is_wrong(cases[i].word, 4, &cases[i].insn, &cases[i].effects)) {
			printf("%s\n", cases[i].text);
			wrong = 1;
		}
		/* AArch64 has no other instruction length. */
		for (size_t size = 0; size < 4; size++)
			if (is_wrong(cases[i].word, size, &plain, &nothing)) {
				printf("%s, cut off\n", cases[i].text);
				wrong = 1;
			}
	}
	return wrong;
}
