/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the plugin must know of the guest's architecture: one of these in each
 * folder arch/NAME/, and a line of arch.c.
 */
#ifndef LSMETER_ARCH_H
#define LSMETER_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode.h"

struct arch {
	const char *target;	/* as QEMU names it, after qemu-system- */
	size_t marker_size;	/* bytes of a marker: no other instruction is looked at */
	/* bytes: the instruction, size <= INSN_MAX; vaddr: where it stands. */
	struct insn (*decode)(const uint8_t *bytes, size_t size, uint64_t vaddr);
	/* What it does besides: looked at only where events are counted (events.h). */
	struct effects (*effects)(const uint8_t *bytes, size_t size);
	/* In a loop that waits it ends QEMU's turn, which costs more than the loop; what does not. */
	const char *pause;
	const char *no_pause;
	size_t pause_size;	/* bytes of both */
	uint64_t stack_bytes;	/* of a task's stack in the kernel, aligned to as many */
	/*
	 * An access to memory of the code that switches tasks. *from, 0 at its begin,
	 * becomes where the old task's stack pointer is kept. Returns true if the new
	 * task's was loaded, from vaddr.
	 */
	bool (*stack_switched)(uint64_t *from, bool store, uint64_t vaddr);
};

struct effects effects_x86_64(const uint8_t *bytes, size_t size);
extern const struct arch arch_x86_64;
struct effects effects_aarch64(const uint8_t *bytes, size_t size);
extern const struct arch arch_aarch64;

/* The guest's, once arch_choose() has found it. */
extern const struct arch *guest;
/* Returns false if there is none that QEMU calls target. */
bool arch_choose(const char *target);
/* What arch_choose() would find: "qemu-system-" before each, " or " between them. */
const char *arch_programs(void);

#endif
