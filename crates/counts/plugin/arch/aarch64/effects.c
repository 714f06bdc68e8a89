// SPDX-License-Identifier: GPL-2.0-or-later
/* Costly effects of AArch64 instructions: Arm Architecture Reference Manual, C4.1. */
#include "arch.h"

#include "words.h"

/* Whether the base register of a memory access is the stack pointer. */
static bool is_by_stack(uint32_t word)
{
	return (word >> 5 & 0x1f) == 31;
}

static bool is_atomic(uint32_t word)
{
	if ((word & 0x3f200c00) == 0x38200000)		/* ldadd, swp and others, not ldapr */
		return (word & 0x3ffffc00) != 0x38bfc000;
	if ((word & 0x3fa07c00) == 0x08a07c00)		/* cas */
		return true;
	if ((word & 0xbfa07c00) == 0x08207c00)		/* casp */
		return true;
	return (word & 0x3fe00000) == 0x08000000 ||	/* stxr, stlxr: the end of an attempt */
	       (word & 0xbfe00000) == 0x88200000;	/* stxp, stlxp */
}

struct effects effects_aarch64(const uint8_t *bytes, size_t size)
{
	struct effects effects = { 0 };
	enum register_branch branch;
	uint32_t word;

	if (size != sizeof(word))
		return effects;
	word = read_word(bytes);
	branch = register_branch(word);
	effects.indirect = branch == BRANCH_TO || branch == BRANCH_CALL;
	effects.atomic = is_atomic(word);
	effects.pushes = ((word & 0x7fc00000) == 0x29800000 ||	/* stp with write-back */
			  (word & 0xbfe00c00) == 0xb8000c00) &&	/* str with write-back */
			 is_by_stack(word);
	effects.serialises = branch == BRANCH_EXCEPTION_RETURN ||
			     (word & 0xfffff0ff) == 0xd50330df ||	/* isb */
			     (word & 0xfffff0ff) == 0xd503309f;		/* dsb */
	effects.flushes_tlb = (word & 0xfff8f000) == 0xd5088000;	/* tlbi */
	effects.reads_clock = (word & 0xffffff00) == 0xd53be000 &&	/* cntvct, cntpct */
			      (word >> 5 & 7);				/* not cntfrq */
	if ((word & 0xfffff0ff) == 0xd50340df)				/* msr daifset */
		effects.irqs_off = word >> 8 & 2;
	else if ((word & 0xfffff0ff) == 0xd50340ff)			/* msr daifclr */
		effects.irqs_on = word >> 8 & 2;
	else if ((word & ~0x1fu) == 0xd51b4220)				/* msr daif: restored */
		effects.irqs_on = true;
	return effects;
}
