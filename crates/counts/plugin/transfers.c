// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "transfers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define WORD_BITS	3
/* Guests have less memory, which AArch64's begins at 1 GiB. */
#define PHYSICAL_MAX	(8ull << 30)
#define PAGE		4096u

/* Zero: nobody has touched it since the machine was armed. */
struct word {
	uint8_t holders;	/* bit n: processor n */
	uint8_t writer;		/* processor + 1 */
};

/* Only touched pages take memory. */
static struct word *words;
bool transfers_are_enabled;

/* Words that each processor's current instruction has read: few instructions read several. */
#define READS_MAX	4
static struct {
	uint64_t address;	/* of the instruction */
	unsigned int next;	/* of words[], in rotation */
	struct {
		uint64_t number;	/* of the word + 1; 0: none */
		bool transferred;
	} words[READS_MAX];
} reads[PROCESSORS_MAX];

int transfers_enable(void)
{
	words = mmap(NULL, (PHYSICAL_MAX >> WORD_BITS) * sizeof(*words), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (words == MAP_FAILED)
		return -errno;
	transfers_are_enabled = true;
	return 0;
}

/* Forgets the instruction's read of the word; returns whether that was a transfer. */
static bool take_read(unsigned int processor, uint64_t number)
{
	for (unsigned int i = 0; i < READS_MAX; i++) {
		if (reads[processor].words[i].number != number + 1)
			continue;
		reads[processor].words[i].number = 0;
		return reads[processor].words[i].transferred;
	}
	return false;
}

static bool read_word(unsigned int processor, uint64_t number)
{
	struct word *word = &words[number];
	uint8_t own = (uint8_t)(1u << processor);
	bool transfer = !(word->holders & own) && word->writer && word->writer != processor + 1;
	unsigned int at = reads[processor].next++ % READS_MAX;

	word->holders |= own;
	take_read(processor, number);
	reads[processor].words[at].number = number + 1;
	reads[processor].words[at].transferred = transfer;
	return transfer;
}

static bool write_word(unsigned int processor, uint64_t number)
{
	struct word *word = &words[number];
	uint8_t own = (uint8_t)(1u << processor);
	bool transfer = word->holders & ~own;

	word->holders = own;
	word->writer = (uint8_t)(processor + 1);
	/* One transfer brings the word for an instruction's read and write. */
	return !take_read(processor, number) && transfer;
}

unsigned int transfers_access(unsigned int processor, uint64_t address, bool store,
			      uint64_t physical, uint64_t bytes)
{
	uint64_t last = physical + bytes - 1;
	unsigned int transfers = 0;

	if (processor >= PROCESSORS_MAX || last >= PHYSICAL_MAX)
		return 0;
	/* The rest lies in a page that may be anywhere. */
	if (physical / PAGE != last / PAGE)
		last = physical | (PAGE - 1);
	if (reads[processor].address != address) {
		memset(&reads[processor], 0, sizeof(reads[processor]));
		reads[processor].address = address;
	}
	for (uint64_t word = physical >> WORD_BITS; word <= last >> WORD_BITS; word++)
		transfers += store ? write_word(processor, word) : read_word(processor, word);
	return transfers;
}
