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
	struct transfers transfers;
} accesses[] = {
	{ "a first access", 0, 1, LOAD, 0, 8, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 0, 8, { 0, 0 } },
	{ "a read of what another wrote, once", 0, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 1, 2, LOAD, 0, 8, { 0, 0 } },
	{ NULL, 0, 1, LOAD, 0, 8, { 0, 0 } },
	{ "a write of what another has read", 0, 1, LOAD, 0, 4, { 0, 0 } },
	{ NULL, 1, 1, STORE, 0, 4, { 1, 1 } },
	{ NULL, 1, 2, STORE, 0, 4, { 0, 0 } },
	{ "other words of one line", 0, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 1, 1, STORE, 8, 8, { 0, 1 } },
	{ "a shared counter, by one instruction", 0, 1, LOAD, 0, 8, { 0, 0 } },
	{ NULL, 0, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 1, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 0, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 0, 1, STORE, 0, 8, { 0, 0 } },
	{ "by two instructions", 0, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 1, 2, STORE, 0, 8, { 1, 1 } },
	{ "two words by one instruction, in 16 bytes", 0, 1, STORE, 0, 16, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 0, 16, { 2, 1 } },
	{ NULL, 1, 1, STORE, 0, 16, { 0, 0 } },
	{ "two words by one instruction, in parts", 0, 1, STORE, 0, 16, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 1, 1, LOAD, 8, 8, { 1, 0 } },
	{ NULL, 1, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 1, 1, STORE, 8, 8, { 0, 0 } },
	{ "unaligned, over two words", 0, 1, STORE, 4, 8, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 4, 8, { 2, 1 } },
	{ NULL, 1, 2, LOAD, 0, 4, { 0, 0 } },
	{ "a store again after the instruction's read", 0, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 1, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 0, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 1, 1, STORE, 0, 8, { 1, 1 } },
	{ "the end of a page", 0, 1, STORE, 4092, 8, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 4092, 8, { 1, 1 } },
	{ "a third processor", 0, 1, STORE, 0, 8, { 0, 0 } },
	{ NULL, 1, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 2, 1, LOAD, 0, 8, { 1, 1 } },
	{ NULL, 0, 1, STORE, 0, 8, { 1, 1 } },
	{ NULL, 2, 1, LOAD, 0, 8, { 1, 1 } },
};

int main(void)
{
	uint64_t page = 0x100000;
	const char *text = "";
	int wrong = transfers_enable();

	for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		struct transfers found, expected = accesses[i].transfers;

		if (accesses[i].text) {
			text = accesses[i].text;
			page += 4096;
		}
		found = transfers_access(accesses[i].processor, page + accesses[i].address,
					 accesses[i].store, page + accesses[i].offset,
					 accesses[i].bytes);
		if (found.words != expected.words || found.lines != expected.lines) {
			printf("%s: access %zu: %u words and %u lines, not %u and %u\n", text, i,
			       found.words, found.lines, expected.words, expected.lines);
			wrong = 1;
		}
	}
	return wrong;
}
