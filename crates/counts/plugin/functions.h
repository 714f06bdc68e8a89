/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel's functions lie. lsmeter makes the file from its symbols
 * (src/landmarks.rs); without it nothing can be said of calls.
 */
#ifndef LSMETER_FUNCTIONS_H
#define LSMETER_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* What blocks outside of every function belong to. */
#define FUNCTION_UNKNOWN	0u

struct function {
	uint32_t number;
	bool entry;		/* the address is where calls of it go */
	bool thunk;		/* carries control to somewhere else */
	bool syscall;		/* a system call's own function */
	bool forks;		/* a system call that creates tasks */
	bool sigreturn;		/* a system call that ends a signal's handler */
	bool copies_stack;	/* prepares a new task's stack */
};

/*
 * Reads lines "START END NUMBER FLAGS", addresses in hexadecimal, END exclusive,
 * sorted, no two of them overlapping; the first line holds in its place how many
 * bytes from its start calls may enter a function. FLAGS are "-" or letters:
 * s, f, r and c as below, t a thunk, p a part that was split off its function.
 * Behind them lines "x INSTRUCTION FIXUP", sorted: the kernel's exception table.
 * Returns 0 or -errno.
 */
int functions_load(const char *path);

/* The function at an address. */
struct function functions_at(uint64_t address);

/* The instruction from first to last that may fail and goes on at fixup then, or 0. */
uint64_t functions_failing(uint64_t first, uint64_t last, uint64_t fixup);

#endif
