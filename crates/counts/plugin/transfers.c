// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "transfers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define WORD_BITS	3
#define LINE_BITS	6
/* Guests have less memory, which AArch64's begins at 1 GiB. */
#define PHYSICAL_MAX	(8ull << 30)
#define PAGE		4096u

/* A word or a line. Zero: nobody has touched it since the machine was armed. */
struct unit {
	uint8_t holders;	/* bit n: processor n */
	uint8_t writer;		/* processor + 1 */
};

/* Units that each processor's current instruction has read: few instructions read several. */
#define READS_MAX	4
struct reads {
	uint64_t address;	/* of the instruction */
	unsigned int next;	/* of units[], in rotation */
	struct {
		uint64_t number;	/* of the unit + 1; 0: none */
		bool transferred;
	} units[READS_MAX];
};

static struct memory {
	unsigned int bits;	/* of an address in a unit */
	struct unit *units;	/* only touched pages take memory */
	struct reads reads[PROCESSORS_MAX];
} words = { .bits = WORD_BITS }, lines = { .bits = LINE_BITS };

bool transfers_are_enabled;

static int follow(struct memory *memory)
{
	memory->units = mmap(NULL, (PHYSICAL_MAX >> memory->bits) * sizeof(*memory->units),
			     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			     -1, 0);
	return memory->units == MAP_FAILED ? -errno : 0;
}

int transfers_enable(void)
{
	int err = follow(&words) ?: follow(&lines);

	transfers_are_enabled = !err;
	return err;
}

/* Forgets the instruction's read of the unit; returns whether that was a transfer. */
static bool take_read(struct reads *reads, uint64_t number)
{
	for (unsigned int i = 0; i < READS_MAX; i++) {
		if (reads->units[i].number != number + 1)
			continue;
		reads->units[i].number = 0;
		return reads->units[i].transferred;
	}
	return false;
}

static bool read_unit(struct memory *memory, unsigned int processor, uint64_t number)
{
	struct unit *unit = &memory->units[number];
	struct reads *reads = &memory->reads[processor];
	uint8_t own = (uint8_t)(1u << processor);
	bool transfer = !(unit->holders & own) && unit->writer && unit->writer != processor + 1;
	unsigned int at = reads->next++ % READS_MAX;

	unit->holders |= own;
	reads->units[at].transferred = take_read(reads, number) || transfer;
	reads->units[at].number = number + 1;
	return transfer;
}

static bool write_unit(struct memory *memory, unsigned int processor, uint64_t number)
{
	struct unit *unit = &memory->units[number];
	uint8_t own = (uint8_t)(1u << processor);
	bool transfer = unit->holders & ~own;

	unit->holders = own;
	unit->writer = (uint8_t)(processor + 1);
	/* One transfer brings the unit for an instruction's read and write. */
	return !take_read(&memory->reads[processor], number) && transfer;
}

static unsigned int access_memory(struct memory *memory, unsigned int processor,
				  uint64_t address, bool store, uint64_t first, uint64_t last)
{
	struct reads *reads = &memory->reads[processor];
	unsigned int transfers = 0;

	if (reads->address != address) {
		memset(reads, 0, sizeof(*reads));
		reads->address = address;
	}
	for (uint64_t unit = first >> memory->bits; unit <= last >> memory->bits; unit++)
		transfers += store ? write_unit(memory, processor, unit) :
				     read_unit(memory, processor, unit);
	return transfers;
}

struct transfers transfers_access(unsigned int processor, uint64_t address, bool store,
				  uint64_t physical, uint64_t bytes)
{
	uint64_t last = physical + bytes - 1;

	if (processor >= PROCESSORS_MAX || last >= PHYSICAL_MAX)
		return (struct transfers){ 0 };
	/* The rest lies in a page that may be anywhere. */
	if (physical / PAGE != last / PAGE)
		last = physical | (PAGE - 1);
	return (struct transfers){
		.words = access_memory(&words, processor, address, store, physical, last),
		.lines = access_memory(&lines, processor, address, store, physical, last),
	};
}
