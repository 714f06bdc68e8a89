// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions metric: operations one at a time, each between two markers.
 * Warm-up runs before the cell's first marker; composite benchmarks open
 * their own windows in it too, which lie outside any cell and do not count.
 */
#include "agent.h"

#define SLOTS_DEFAULT	4096

static unsigned int slots(const struct benchmark *b)
{
	return b->max_batch ? b->max_batch : SLOTS_DEFAULT;
}

static int operate(const struct benchmark *b, struct cell *c, unsigned int i,
		   int marked)
{
	long err = 0, result;

	if (b->prepare)
		err = b->prepare(c, i);
	if (err < 0)
		return explain(c, "prepare", err);
	/* A fork has left every page to be copied at its next write. */
	if (b->counts_children)
		touch_memory();

	if (marked) {
		if (b->composite)
			marker(MARKER_OP_BEGIN);
		else if (b->counts_children)
			marker(MARKER_WINDOW_BEGIN_ALL);
		else
			marker(MARKER_WINDOW_BEGIN);
	}
	result = b->op(c, i);
	if (marked) {
		if (b->composite)
			marker(MARKER_OP_END);
		else
			marker(MARKER_WINDOW_END);
	}

	if (b->undo)
		err = b->undo(c, i);
	if (result < 0)
		return explain(c, b->syscalls, result);
	return err < 0 ? explain(c, "undo", err) : 0;
}

int count_instructions(const struct cell_spec *spec, struct cell *c,
		       struct outcome *out)
{
	const struct benchmark *b = spec->benchmark;
	unsigned int samples = b->repetitions ? b->repetitions : spec->samples;
	unsigned int warmup = spec->warmup, n;
	int err = 0;

	/* What insists on its number of operations is long in each of them. */
	if (b->repetitions && warmup > 1)
		warmup = 1;
	for (n = 0; n < warmup && !err; n++)
		err = operate(b, c, n % slots(b), 0);
	if (err)
		return err;

	out->samples = samples;
	marker(MARKER_CELL_BEGIN);
	for (; n < warmup + samples && !err; n++) {
		err = operate(b, c, n % slots(b), 1);
		if (!err)
			out->operations++;
	}
	marker(MARKER_CELL_END);
	return err;
}
