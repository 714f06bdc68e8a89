// SPDX-License-Identifier: GPL-2.0-or-later
#include "events.h"

#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "qemu_api.h"
#include "records.h"
#include "trace.h"

#define LINE_BITS	6		/* bytes of a cache line: 64 */
/*
 * The number of different lines that a region may touch; copying 64 KiB touches 2,048. A power of
 * two.
 */
#define LINES_MAX	(1u << 18)
/* Notes per record. */
#define NOTES_A_RECORD	6
/* More notes than compilers cause in any block. */
#define NOTES_MAX	255

bool events_are_enabled;

struct line {
	uint64_t address;		/* of the line, shifted */
	uint32_t window;		/* region that touched it last; of another region: free */
	uint32_t number;
};

static struct {
	struct line *lines;		/* hashed, open addressing */
	uint32_t count;
	uint32_t number;		/* of the region, from 1 */
	uint64_t stack;			/* address of the last push */
	/* Of the current REP instruction: */
	uint32_t half_bytes;
	bool in_rep;
	uint64_t last_line[2];		/* loaded from, stored to; ~0 if none */
} window;

void events_enable(void)
{
	trace_enable();
	window.lines = calloc(LINES_MAX, sizeof(*window.lines));
	if (!window.lines)
		abort();
	events_are_enabled = true;
}

/* There are few kinds; each is stored once, for as long as translations refer to it. */
const struct access *events_access(const struct effects *effects, const struct insn *insn)
{
	static struct access known[128];
	static unsigned int count;
	struct access access = {
		.atomic = effects->atomic,
		.pushes = effects->pushes,
		.per_cpu = effects->per_cpu,
	};

	if (insn->kind == INSN_REP) {
		access.rep = true;
		access.rep_store = insn->iteration_access == PLUGIN_MEM_WRITE;
		access.half_bytes = 2 * effects->iteration_bytes / insn->accesses_per_iteration;
	}
	for (unsigned int i = 0; i < count; i++)
		if (!memcmp(&known[i], &access, sizeof(access)))
			return &known[i];
	if (count == sizeof(known) / sizeof(known[0]))
		abort();	/* 3 bits without REP, and 4 × 2 × 2 × 2 with */
	known[count] = access;
	return &known[count++];
}

static void end_rep(void)
{
	while (window.half_bytes) {
		uint32_t part = window.half_bytes;

		if (part > TRACE_REP_BYTES_MAX)
			part = TRACE_REP_BYTES_MAX;
		trace_put(TRACE_REP_BYTES | part);
		window.half_bytes -= part;
	}
	window.in_rep = false;
}

void events_begin_window(void)
{
	window.count = 0;
	window.stack = 0;
	window.half_bytes = 0;
	window.in_rep = false;
	/* After 2^32 regions, lines of the first region would match the current one. */
	if (!++window.number) {
		memset(window.lines, 0, LINES_MAX * sizeof(*window.lines));
		window.number = 1;
	}
}

void events_block(void)
{
	if (window.in_rep)
		end_rep();
}

/* Sets the line's index in the region, in order of first use; false if there are too many. */
static bool line_number(uint64_t address, uint32_t *number)
{
	uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15ULL >> 46);

	for (;; at++) {
		struct line *line = &window.lines[at % LINES_MAX];

		if (line->window != window.number) {
			/* Half full counts as full, to keep searches short. */
			if (window.count == LINES_MAX / 2)
				return false;
			line->address = address;
			line->window = window.number;
			line->number = window.count++;
		}
		if (line->address == address) {
			*number = line->number;
			return true;
		}
	}
}

static bool is_own(const struct access *access, uint64_t vaddr)
{
	if (access->pushes)
		window.stack = vaddr;
	return access->per_cpu || (window.stack ^ vaddr) < guest->stack_bytes;
}

void events_memory(const struct access *access, bool store, uint64_t vaddr)
{
	uint64_t line = vaddr >> LINE_BITS;
	uint32_t element = TRACE_MEMORY;
	uint32_t number;

	if (access->rep) {
		if (!window.in_rep) {
			window.in_rep = true;
			window.last_line[0] = window.last_line[1] = ~0ULL;
		}
		if (store == access->rep_store)
			window.half_bytes += access->half_bytes;
		if (window.last_line[store] == line)
			return;
		window.last_line[store] = line;
		element |= TRACE_MEMORY_REP;
	}
	if (!line_number(line, &number)) {
		trace_give_up();
		return;
	}
	if (store)
		element |= TRACE_MEMORY_STORE;
	if (store && access->atomic)
		element |= TRACE_MEMORY_ATOMIC;
	if (is_own(access, vaddr))
		element |= TRACE_MEMORY_OWN;
	trace_put(element | number);
}

void events_note(struct block *block, uint32_t position, const struct effects *effects)
{
	static struct note notes[NOTES_MAX];
	uint16_t what = 0;

	if (effects->serialises)
		what |= NOTE_SERIALISES;
	if (effects->flushes_tlb)
		what |= NOTE_FLUSHES_TLB;
	if (effects->reads_clock)
		what |= NOTE_READS_CLOCK;
	if (effects->indirect)
		what |= NOTE_INDIRECT;
	if (effects->iteration_bytes)
		what |= NOTE_REP;
	if (effects->irqs_off)
		what |= NOTE_IRQS_OFF;
	if (effects->irqs_on)
		what |= NOTE_IRQS_ON;
	if (what && block->note_count < NOTES_MAX)
		notes[block->note_count++] = (struct note){ (uint16_t)position, what };
	if (position + 1 < block->insns || !block->note_count)
		return;
	block->notes = malloc(block->note_count * sizeof(*block->notes));
	if (!block->notes)
		abort();
	memcpy(block->notes, notes, block->note_count * sizeof(*block->notes));
}

void events_describe(const struct block *block)
{
	for (uint32_t i = 0; i < block->note_count; i += NOTES_A_RECORD) {
		struct record record = {
			.kind = RECORD_NOTES,
			.number = block->number,
		};
		struct note part[NOTES_A_RECORD] = { 0 };
		uint32_t left = block->note_count - i;

		if (left > NOTES_A_RECORD)
			left = NOTES_A_RECORD;
		record.flags = (uint8_t)left;
		memcpy(part, block->notes + i, left * sizeof(part[0]));
		memcpy(&record.instructions, part, sizeof(part));
		records_put(&record);
	}
}
