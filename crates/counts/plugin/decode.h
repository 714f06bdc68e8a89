/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of a decoded instruction; arch/NAME/ has the decoders. */
#ifndef LSMETER_DECODE_H
#define LSMETER_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSN_MAX 15	/* bytes of the longest instruction of any architecture */

enum insn_kind {
	INSN_PLAIN,
	INSN_REP,		/* string instruction: one instruction, many iterations */
	INSN_BRANCH,		/* any jump, direct or not */
	INSN_CALL,
	INSN_RET,
	INSN_IRET,
	INSN_SYSCALL,
	INSN_SYSRET,
	INSN_MARKER,
};

struct insn {
	enum insn_kind kind;
	uint32_t marker;	/* INSN_MARKER: the immediate's kind */
	uint64_t target;	/* target of a direct branch or call, else 0 */
	bool indirect;		/* an indirect branch, call or return */
	int iteration_access;	/* INSN_REP: PLUGIN_MEM_* that marks one iteration */
	unsigned int accesses_per_iteration;
};

/* Effects that cost more than one ordinary instruction. */
struct effects {
	bool atomic;		/* atomic read-modify-write, also for other processors */
	bool serialises;	/* waits for earlier instructions, or later ones wait for it */
	bool flushes_tlb;
	bool reads_clock;
	bool indirect;		/* a jump or call through a register or memory */
	bool pushes;		/* to the stack */
	bool per_cpu;		/* its memory is per CPU */
	bool irqs_off;		/* disables interrupts from the next instruction on */
	bool irqs_on;
	uint8_t iteration_bytes;	/* of an iteration of a REP instruction; 0: not one */
};

#endif
