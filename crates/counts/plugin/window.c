// SPDX-License-Identifier: GPL-2.0-or-later
#include "window.h"

#include <string.h>

#include "arch.h"
#include "markers.h"
#include "objects.h"
#include "records.h"
#include "symbols.h"
#include "tasks.h"
#include "trace.h"
#include "transfers.h"

/* The depth of exceptions inside exceptions; no kernel nests them this deeply. */
#define FRAMES_MAX	16

static struct {
	bool open;
	uint8_t flags;
	uint64_t instructions;
	uint64_t transfers;		/* of words */
	uint64_t lines;			/* transferred */
	uint64_t sites;			/* hash of the transfers' instructions */
	uint64_t rep_accesses;		/* in halves of an iteration */
	uint64_t path;
	const struct block *previous;	/* last block counted, if it may continue */
	/* Blocks interrupted by exceptions, innermost last. */
	const struct block *broken[FRAMES_MAX];
	unsigned int depth;
	unsigned int interrupt_depth;	/* depth + 1 of the outermost interrupt, or 0 */
	bool running;			/* the previous block was ordinary and counted */
	bool resumed;			/* the next block follows an iret */
	uint64_t switch_from;		/* of the context switch: see struct arch */
} window;

unsigned int window_processor;

static uint32_t cells;
static bool in_cell;			/* warm-up runs outside: its regions are not kept */
static uint32_t windows;
static uint64_t entry;			/* address of the system call entry */

/* A longer region always includes a tick, if an instruction takes 1 ns. */
#define BETWEEN_TICKS	1000000

/* Whether the host may count it: see counting() in src/counts.rs. */
static bool may_count(void)
{
	if (window.flags & WINDOW_UNARMED)
		return false;
	if (window.flags & WINDOW_INTERRUPTED &&
	    (window.instructions < BETWEEN_TICKS || window.flags & WINDOW_ALL_TASKS))
		return false;
	return !(window.flags & WINDOW_SWITCHED) || window.flags & WINDOW_ALL_TASKS;
}

static void put(enum record_kind kind, uint32_t number)
{
	struct record record = {
		.kind = kind,
		.number = number,
	};

	switch (kind) {
	case RECORD_WINDOW:
		record.flags = window.flags;
		record.instructions = window.instructions;
		record.rep_iterations = window.rep_accesses / 2;
		record.path = window.path;
		if (transfers_enabled()) {
			record.instructions = window.transfers;
			record.rep_iterations = 0;
			record.path = window.sites;
		}
		break;
	case RECORD_CELL_END:
		record.instructions = entry;
		break;
	default:
		break;
	}
	if (kind == RECORD_WINDOW && trace_enabled() && may_count())
		trace_end_window(&record);
	/* Not part of a path: it depends on where objects lie. */
	if (kind == RECORD_WINDOW && transfers_enabled()) {
		record.flags |= WINDOW_TRANSFERS;
		record.rep_iterations = window.lines;
	}
	records_put(&record);
}

static void open_window(uint8_t flags)
{
	if (tasks_enabled()) {
		tasks_begin();
		return;
	}
	memset(&window, 0, sizeof(window));
	window.open = true;
	window.flags = flags;
	window.path = window.sites = 0xcbf29ce484222325ULL;
	trace_begin_window();
}

static void close_window(void)
{
	if (tasks_enabled()) {
		tasks_end(windows++);
		return;
	}
	if (!window.open)
		return;
	window.open = false;
	put(RECORD_WINDOW, windows++);
}

void window_begin_copy(void)
{
	cells = 0;
}

void window_marker(unsigned int processor, uint32_t marker, bool armed)
{
	uint8_t unarmed = armed ? 0 : WINDOW_UNARMED;

	if (!in_cell && marker != MARKER_CELL_BEGIN)
		return;
	switch (marker) {
	case MARKER_CELL_BEGIN:
		window.open = false;
		windows = 0;
		in_cell = true;
		trace_begin_cell();
		put(RECORD_CELL_BEGIN, cells++);
		break;
	case MARKER_CELL_END:
		window.open = false;
		in_cell = false;
		put(RECORD_CELL_END, windows);
		records_flush();
		break;
	case MARKER_OP_BEGIN:
		put(RECORD_OP_BEGIN, windows);
		break;
	case MARKER_OP_END:
		put(RECORD_OP_END, windows);
		break;
	case MARKER_WINDOW_BEGIN:
		window_processor = processor;
		open_window(unarmed);
		break;
	case MARKER_WINDOW_BEGIN_ALL:
		window_processor = processor;
		open_window(unarmed | WINDOW_ALL_TASKS);
		break;
	case MARKER_WINDOW_END:
		close_window();
		break;
	}
}

/* An interrupt or exception interrupts the current code. */
static void enter(const struct block *block)
{
	bool interrupt = block->interrupt_entry;

	if (window.depth == FRAMES_MAX) {
		window.flags |= WINDOW_SWITCHED;
		return;
	}
	window.broken[window.depth++] = window.previous;
	window.previous = NULL;
	if (interrupt) {
		window.flags |= WINDOW_INTERRUPTED;
		if (!window.interrupt_depth)
			window.interrupt_depth = window.depth;
	}
}

/* A vector's stub jumps to the common entry, which is still the same interrupt. */
static bool begins_entry(const struct block *block)
{
	if (block->exception_entry)
		return true;
	return block->interrupt_entry &&
	       !(window.previous && window.previous->interrupt_entry);
}

static void leave(void)
{
	if (!window.depth)
		return;
	if (window.interrupt_depth == window.depth)
		window.interrupt_depth = 0;
	window.previous = window.broken[--window.depth];
	window.resumed = true;
}

static inline void count(struct block *block, bool resumed)
{
	uint32_t before = counted_before(window.previous, block, resumed);

	window.instructions += block->insns - before;
	if (trace_enabled())
		trace_block(block, before);
	if (block->last_kind == INSN_CALL || block->last_kind == INSN_RET)
		window.path = (window.path ^ block->last) * 0x100000001b3ULL;
}

void window_block(struct block *block)
{
	bool resumed;

	if (!window.open)
		return;
	/* This is nearly always the case. */
	if (block->ordinary && window.running) {
		count(block, false);
		window.previous = block;
		return;
	}
	window.running = false;
	if (!block->kernel) {
		if (block->last_kind == INSN_SYSCALL)
			window.previous = block;
		return;
	}
	if (window.previous && window.previous->last_kind == INSN_SYSCALL) {
		entry = block->first;
		window.previous = NULL;
		if (trace_enabled())
			trace_syscall();
	}
	if (begins_entry(block))
		enter(block);
	if (block->context_switch)
		window.flags |= WINDOW_SWITCHED;
	window.switch_from = 0;

	resumed = window.resumed;
	window.resumed = false;
	if (!window.interrupt_depth)
		count(block, resumed);
	window.previous = block;
	if (block->last_kind == INSN_IRET) {
		/* Without symbols, an iret is the only sign of an interrupt. */
		if (!window.depth && !symbols_known())
			window.flags |= WINDOW_INTERRUPTED;
		leave();
	}
	window.running = block->ordinary && !window.interrupt_depth;
}

void window_switch_access(bool store, uint64_t vaddr)
{
	if (!window.open || window.interrupt_depth)
		return;
	if (guest->stack_switched(&window.switch_from, store, vaddr)) {
		trace_switch(window.switch_from, vaddr);
		window.switch_from = 0;
	}
}

void window_rep_access(unsigned int accesses_per_iteration)
{
	if (window.open && !window.interrupt_depth)
		window.rep_accesses += accesses_per_iteration == 2 ? 1 : 2;
}

void window_transfers(const struct transfers *transfers, uint64_t address, uint64_t vaddr,
		      uint64_t physical)
{
	unsigned int words = transfers->words;

	if (!window.open || window.interrupt_depth)
		return;
	window.lines += transfers->lines;
	if (!words)
		return;
	window.transfers += words;
	window.sites = (window.sites ^ address) * 0x100000001b3ULL;
	if (!trace_enabled())
		return;
	for (uint32_t number = objects_number(vaddr, physical); words; words--)
		trace_put(TRACE_TRANSFER | number);
}

void window_memory(const struct access *access, bool store, uint64_t vaddr)
{
	if (window.open && !window.interrupt_depth)
		events_memory(access, store, vaddr);
}
