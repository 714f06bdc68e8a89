/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a counter must know of an instruction; arch/NAME/ tells it from its bytes. */
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
	uint64_t target;	/* direct branch or call: where to; else 0 */
	bool indirect;		/* branches, calls or returns to anywhere */
	int iteration_access;	/* INSN_REP: PLUGIN_MEM_* that marks one iteration */
	unsigned int accesses_per_iteration;
};

/* What an instruction does that costs more than its being one. */
struct effects {
	bool atomic;		/* reads, changes and writes memory in one, also for other processors */
	bool serialises;	/* waits for all before it, or all of them for it */
	bool flushes_tlb;
	bool reads_clock;
	bool indirect;		/* a jump or call through a register or memory */
	bool pushes;		/* to the stack */
	bool per_cpu;		/* its memory is the processor's own */
	bool irqs_off;		/* no interrupts from the next one on */
	bool irqs_on;
	uint8_t iteration_bytes;	/* of an iteration of a REP instruction; 0: no such one */
};

#endif
