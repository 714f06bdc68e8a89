// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "objects.h"

/* In elements. The longest operation, execve, takes about 50,000 blocks. */
#define WINDOW_MAX	(8u << 20)
#define CELL_MAX	(64u << 20)
/*
 * Beyond half of the limit, only paths taken by a second region are kept, because an operation
 * that never repeats a path has no dominant path.
 */
#define CELL_EASY	(CELL_MAX / 2)
/* The number of different paths of one measurement; mkdir has 9,437. A power of two. */
#define PATHS_MAX	65536u

bool trace_is_enabled;

static struct {
	uint32_t *elements;
	uint32_t used;
	uint32_t size;
	bool overflown;
	uint64_t tasks[TRACE_TASKS_MAX];
	uint32_t task_count;
} window;

struct path {
	uint64_t instructions;
	uint64_t rep_iterations;
	uint64_t path;
	bool used;
	bool told;
};

static struct {
	struct path paths[PATHS_MAX];	/* hashed, open addressing */
	uint32_t path_count;
	uint64_t elements;
} cell;

/* By number; the last ones may lack their RECORD_BLOCK. */
static uint32_t blocks;

void trace_enable(void)
{
	trace_is_enabled = true;
}

void trace_begin_cell(void)
{
	memset(&cell, 0, sizeof(cell));
	objects_begin_cell();
}

void trace_begin_window(void)
{
	window.used = 0;
	window.overflown = false;
	window.task_count = 0;
	if (events_enabled())
		events_begin_window();
}

static bool grow(void)
{
	uint32_t size = window.size ? window.size * 2 : 1 << 16;
	uint32_t *elements;

	if (size > WINDOW_MAX)
		return false;
	elements = realloc(window.elements, size * sizeof(*elements));
	if (!elements)
		return false;
	window.elements = elements;
	window.size = size;
	return true;
}

void trace_put(uint32_t element)
{
	if (window.used == window.size && !grow())
		window.overflown = true;
	else
		window.elements[window.used++] = element;
}

void trace_give_up(void)
{
	window.overflown = true;
}

static void describe(struct block *block)
{
	struct record record = {
		.kind = RECORD_BLOCK,
		.flags = block->last_kind,
		.instructions = block->first,
		.rep_iterations = block->next,
		.path = block->insns,
	};

	if (block->exception_entry)
		record.flags |= BLOCK_EXCEPTION;
	block->number = blocks++;
	block->told = true;
	record.number = block->number;
	records_put(&record);
	if (events_enabled())
		events_describe(block);
}

void trace_block(struct block *block, uint32_t counted_before)
{
	/*
	 * This is a further iteration of a REP instruction, of which there may be thousands, and
	 * adds nothing.
	 */
	if (block->last_is_rep && counted_before == block->insns)
		return;
	if (events_enabled())
		events_block();
	if (!block->told)
		describe(block);
	if (counted_before)
		trace_put(TRACE_BEFORE | counted_before);
	trace_put(block->number);
}

void trace_syscall(void)
{
	trace_put(TRACE_SYSCALL);
}

static uint32_t task_number(uint64_t task)
{
	uint32_t i;

	for (i = 0; i < window.task_count; i++)
		if (window.tasks[i] == task)
			return i;
	if (i == TRACE_TASKS_MAX) {
		window.overflown = true;
		return 0;
	}
	window.tasks[window.task_count++] = task;
	return i;
}

void trace_switch(uint64_t from, uint64_t to)
{
	uint32_t old = task_number(from);

	trace_put(TRACE_SWITCH | old << 12 | task_number(to));
}

/* Finds or adds the path; NULL if there are too many. */
static struct path *find(const struct record *record, bool *again)
{
	uint32_t at = (record->path ^ record->instructions * 0x9e3779b97f4a7c15ULL) >> 40;

	for (;; at++) {
		struct path *path = &cell.paths[at % PATHS_MAX];

		if (!path->used) {
			/* Half full counts as full, to keep searches short. */
			if (cell.path_count == PATHS_MAX / 2)
				return NULL;
			cell.path_count++;
			path->used = true;
			path->instructions = record->instructions;
			path->rep_iterations = record->rep_iterations;
			path->path = record->path;
			*again = false;
			return path;
		}
		if (path->instructions == record->instructions &&
		    path->rep_iterations == record->rep_iterations && path->path == record->path) {
			*again = true;
			return path;
		}
	}
}

void trace_end_window(const struct record *record)
{
	struct record head = {
		.kind = RECORD_TRACE,
		.number = record->number,
		.instructions = window.used,
	};

	struct path *path;
	bool again;

	if (events_enabled()) {
		events_block();
		head.instructions = window.used;
	}
	if (window.overflown || !window.used || cell.elements + window.used > CELL_MAX)
		return;
	path = find(record, &again);
	if (!path || path->told || (!again && cell.elements > CELL_EASY))
		return;
	path->told = true;
	cell.elements += window.used;
	records_put(&head);
	for (uint32_t i = 0; i < window.used; i += sizeof(struct record) / sizeof(uint32_t)) {
		uint32_t part[sizeof(struct record) / sizeof(uint32_t)] = { 0 };
		uint32_t left = window.used - i;
		struct record raw;

		if (left > sizeof(part) / sizeof(part[0]))
			left = sizeof(part) / sizeof(part[0]);
		memcpy(part, window.elements + i, left * sizeof(part[0]));
		memcpy(&raw, part, sizeof(raw));
		records_put(&raw);
	}
}
