/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the plugin needs to know about the guest's architecture. To add an architecture, add a
 * directory arch/NAME/ with a struct arch, and a line in arch.c.
 */
#ifndef LSMETER_ARCH_H
#define LSMETER_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode.h"


struct arch {
	const char *target;	/* QEMU's name, after qemu-system- */
	size_t marker_size;	/* bytes of a marker; other sizes are skipped */
	/* size <= INSN_MAX; vaddr: the instruction's address */
	struct insn (*decode)(const uint8_t *bytes, size_t size, uint64_t vaddr);
	/* Side effects; used only if events are counted (events.h). */
	struct effects (*effects)(const uint8_t *bytes, size_t size);
	/*
	 * Instruction of the idle loop that ends QEMU's turn, which costs more than the loop, and
	 * its replacement.
	 */
	const char *pause;
	const char *no_pause;
	size_t pause_size;	/* bytes of both */
	/* Memory of a kernel without KASLR: see objects.c. */
	uint64_t memory_start;	/* physical address */
	uint64_t linear_end;	/* end of the addresses at which all memory is mapped */
	uint64_t table_mask;	/* bits of a page table's entry ... */
	uint64_t table;		/* ... and their value if it refers to another table */
	uint64_t stack_bytes;	/* size and alignment of a task's kernel stack */
	/*
	 * A memory access by the context switch code. *from is 0 initially, and then the location
	 * of the old task's stack pointer. Returns true if the new task's stack pointer was
	 * loaded, from vaddr.
	 */
	bool (*stack_switched)(uint64_t *from, bool store, uint64_t vaddr);
};

struct effects effects_x86_64(const uint8_t *bytes, size_t size);
extern const struct arch arch_x86_64;
struct effects effects_aarch64(const uint8_t *bytes, size_t size);
extern const struct arch arch_aarch64;

/* The guest's architecture, set by arch_choose(). */
extern const struct arch *guest;
/* Returns false for a target that is not supported. */
bool arch_choose(const char *target);
/* Supported programs: "qemu-system-" before each name, " or " between them. */
const char *arch_programs(void);

#endif
