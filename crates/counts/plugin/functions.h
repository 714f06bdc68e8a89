/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address ranges of the kernel's functions. lsmeter makes the file from the kernel's symbols
 * (src/landmarks.rs); without it, calls cannot be followed.
 */
#ifndef LSMETER_FUNCTIONS_H
#define LSMETER_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Blocks outside every function. */
#define FUNCTION_UNKNOWN	0u

struct function {
	uint32_t number;
	bool entry;		/* calls of the function go to this address */
	bool thunk;		/* continues somewhere else */
	bool syscall;		/* a system call's own function */
	bool forks;		/* a system call that creates tasks */
	bool sigreturn;		/* a system call that ends a signal handler */
	bool copies_stack;	/* prepares a new task's stack */
};

/*
 * The first line has one number: how many bytes after its start calls may enter a function. Then
 * lines "START END NUMBER FLAGS": hexadecimal addresses, END exclusive, sorted, without overlaps.
 * FLAGS are "-" or letters: s, f, r and c for the fields below, t a thunk, p a part split off its
 * function. Then lines "x INSTRUCTION FIXUP", sorted: the kernel's exception table. Returns 0 or
 * -errno.
 */
int functions_load(const char *path);

/* The function at an address. */
struct function functions_at(uint64_t address);

/* The instruction in first..last that may fault and continues at fixup, or 0. */
uint64_t functions_failing(uint64_t first, uint64_t last, uint64_t fixup);

#endif
