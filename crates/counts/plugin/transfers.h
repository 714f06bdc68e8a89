/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfers of memory between processors: what coherence traffic an operation causes on any
 * machine. Each 8-byte word has a set of processors that hold it and its last writer; caches are
 * infinite. A processor causes a transfer if it reads a word that another wrote last and that it
 * does not hold, or writes a word that another holds. One instruction's read and write of a word,
 * such as a locked one's, are one transfer.
 *
 * Words give the count, since what two processors share does not depend on where objects lie. Lines
 * of 64 bytes are counted by the same rules, next to it.
 */
#ifndef LSMETER_TRANSFERS_H
#define LSMETER_TRANSFERS_H

#include <stdbool.h>
#include <stdint.h>

#define PROCESSORS_MAX	4

/* Follows memory from now on. Returns 0 or -errno. */
int transfers_enable(void);
extern bool transfers_are_enabled;
static inline bool transfers_enabled(void)
{
	return transfers_are_enabled;
}

struct transfers {
	unsigned int words;	/* at most 9 */
	unsigned int lines;	/* at most 2 */
};

/* An access by the instruction at address. */
struct transfers transfers_access(unsigned int processor, uint64_t address, bool store,
				  uint64_t physical, uint64_t bytes);

#endif
