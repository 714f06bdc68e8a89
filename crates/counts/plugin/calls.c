// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "records.h"

/* Twice the number of nodes, to keep searches short. */
#define PLACES	(2u * CALLS_MAX)

struct calls_node *calls;
bool calls_overflown;

static uint32_t node_count, node_size;
static uint32_t *places;	/* hashed by parent and what, open addressing; 0: free */

static void make_room(void)
{
	if (node_count < node_size)
		return;
	node_size = node_size ? 2 * node_size : 1 << 16;
	calls = realloc(calls, node_size * sizeof(*calls));
	if (!calls)
		abort();
}

static uint32_t place_of(uint32_t parent, uint32_t what)
{
	uint64_t key = (uint64_t)parent << 32 | what;

	return (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 32) % PLACES;
}

void calls_reset(void)
{
	if (!places) {
		places = calloc(PLACES, sizeof(*places));
		if (!places)
			abort();
	}
	for (uint32_t i = 1; i < node_count; i++) {
		uint32_t at = place_of(calls[i].parent, calls[i].what);

		/* All entries up to the next free place belong to this tree. */
		while (places[at]) {
			places[at] = 0;
			at = (at + 1) % PLACES;
		}
	}
	node_count = 0;
	make_room();
	memset(&calls[node_count++], 0, sizeof(*calls));
	calls_overflown = false;
}

uint32_t calls_find(uint32_t parent, uint32_t what)
{
	uint32_t at = place_of(parent, what);
	uint32_t node;

	for (; (node = places[at]); at = (at + 1) % PLACES) {
		if (calls[node].parent == parent && calls[node].what == what) {
			calls[parent].latest = node;
			return node;
		}
	}
	if (node_count == CALLS_MAX) {
		calls_overflown = true;
		return parent;
	}
	make_room();
	node = node_count++;
	calls[node] = (struct calls_node){ .parent = parent, .what = what };
	places[at] = node;
	calls[parent].latest = node;
	return node;
}

void calls_tell(void)
{
	for (uint32_t i = 0; i < node_count; i++) {
		const struct calls_node *node = &calls[i];
		struct record record = {
			.kind = RECORD_CALLS,
			.number = node->parent,
			.instructions = node->instructions,
			.rep_iterations = node->calls,
			.path = node->what,
		};

		records_put(&record);
	}
}
