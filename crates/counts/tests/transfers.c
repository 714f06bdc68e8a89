// SPDX-License-Identifier: GPL-2.0-or-later
/* Accesses of several processors, and the transfers that each causes; prints the wrong ones. */
#include <stdio.h>

#include "transfers.h"

#define LOAD	false
#define STORE	true

static const struct {
	const char *text;	/* begins a case, on memory that no other case has */
	unsigned int processor;
	uint64_t address;	/* of the instruction */
	bool store;
	uint64_t offset;	/* in a page */
	uint64_t bytes;
	unsigned int transfers;
} accesses[] = {
	{ "a first access", 0, 1, LOAD, 0, 8, 0 },
	{ NULL, 1, 1, LOAD, 0, 8, 0 },
	{ "a read of what another wrote, once", 0, 1, STORE, 0, 8, 0 },
	{ NULL, 1, 1, LOAD, 0, 8, 1 },
	{ NULL, 1, 2, LOAD, 0, 8, 0 },
	{ NULL, 0, 1, LOAD, 0, 8, 0 },
	{ "a write of what another has read", 0, 1, LOAD, 0, 4, 0 },
	{ NULL, 1, 1, STORE, 0, 4, 1 },
	{ NULL, 1, 2, STORE, 0, 4, 0 },
	{ "other words of one line", 0, 1, STORE, 0, 8, 0 },
	{ NULL, 1, 1, STORE, 8, 8, 0 },
	{ "a shared counter, by one instruction", 0, 1, LOAD, 0, 8, 0 },
	{ NULL, 0, 1, STORE, 0, 8, 0 },
	{ NULL, 1, 1, LOAD, 0, 8, 1 },
	{ NULL, 1, 1, STORE, 0, 8, 0 },
	{ NULL, 0, 1, LOAD, 0, 8, 1 },
	{ NULL, 0, 1, STORE, 0, 8, 0 },
	{ "by two instructions", 0, 1, STORE, 0, 8, 0 },
	{ NULL, 1, 1, LOAD, 0, 8, 1 },
	{ NULL, 1, 2, STORE, 0, 8, 1 },
	{ "two words by one instruction, in 16 bytes", 0, 1, STORE, 0, 16, 0 },
	{ NULL, 1, 1, LOAD, 0, 16, 2 },
	{ NULL, 1, 1, STORE, 0, 16, 0 },
	{ "two words by one instruction, in parts", 0, 1, STORE, 0, 16, 0 },
	{ NULL, 1, 1, LOAD, 0, 8, 1 },
	{ NULL, 1, 1, LOAD, 8, 8, 1 },
	{ NULL, 1, 1, STORE, 0, 8, 0 },
	{ NULL, 1, 1, STORE, 8, 8, 0 },
	{ "unaligned, over two words", 0, 1, STORE, 4, 8, 0 },
	{ NULL, 1, 1, LOAD, 4, 8, 2 },
	{ NULL, 1, 2, LOAD, 0, 4, 0 },
	{ "a store again after the instruction's read", 0, 1, STORE, 0, 8, 0 },
	{ NULL, 1, 1, LOAD, 0, 8, 1 },
	{ NULL, 1, 1, STORE, 0, 8, 0 },
	{ NULL, 0, 1, LOAD, 0, 8, 1 },
	{ NULL, 1, 1, STORE, 0, 8, 1 },
	{ "the end of a page", 0, 1, STORE, 4092, 8, 0 },
	{ NULL, 1, 1, LOAD, 4092, 8, 1 },
	{ "a third processor", 0, 1, STORE, 0, 8, 0 },
	{ NULL, 1, 1, LOAD, 0, 8, 1 },
	{ NULL, 2, 1, LOAD, 0, 8, 1 },
	{ NULL, 0, 1, STORE, 0, 8, 1 },
	{ NULL, 2, 1, LOAD, 0, 8, 1 },
};

int main(void)
{
	uint64_t page = 0x100000;
	const char *text = "";
	int wrong = transfers_enable();

	for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		unsigned int found;

		if (accesses[i].text) {
			text = accesses[i].text;
			page += 4096;
		}
		found = transfers_access(accesses[i].processor, page + accesses[i].address,
					 accesses[i].store, page + accesses[i].offset,
					 accesses[i].bytes);
		if (found != accesses[i].transfers) {
			printf("%s: access %zu: %u transfers, not %u\n", text, i, found,
			       accesses[i].transfers);
			wrong = 1;
		}
	}
	return wrong;
}
