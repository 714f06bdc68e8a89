/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of this kernel's interrupt and exception entries, context switch and idle loop: a text
 * file with lines "KIND START END" in hexadecimal, END exclusive. KIND is interrupt, exception,
 * switch or idle, or one of objects.c.
 */
#ifndef LSMETER_SYMBOLS_H
#define LSMETER_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

enum symbol_kind {
	SYMBOL_NONE,
	SYMBOL_INTERRUPT,
	SYMBOL_EXCEPTION,
	SYMBOL_SWITCH,
	SYMBOL_IDLE,
};

/* Returns the number of ranges read, or -errno. */
int symbols_load(const char *path);
enum symbol_kind symbols_kind(uint64_t address);
bool symbols_known(void);

#endif
