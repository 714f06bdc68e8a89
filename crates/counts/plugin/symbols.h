/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where interrupts, exceptions and context switches begin in this kernel, and where its idle loop
 * lies: a text file from the host, lines of "KIND START END" in hexadecimal, KIND being interrupt,
 * exception, switch or idle, END exclusive.
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
/* Whether any were loaded. */
bool symbols_known(void);

#endif
