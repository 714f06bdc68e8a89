// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions metric: operations run one at a time, each between two markers. The warm-up
 * runs before the measurement's first marker. Composite benchmarks also open regions in the
 * warm-up, which do not count.
 */
#include "agent.h"
#include "settings/first.h"

#define SLOTS_DEFAULT	4096

unsigned int slots(const struct benchmark *b)
{
	return b->max_batch ? b->max_batch : SLOTS_DEFAULT;
}

static int prepare(const struct benchmark *b, struct cell *c, unsigned int i)
{
	long err = b->prepare ? b->prepare(c, i) : 0;

	return err < 0 ? explain(c, "prepare", err) : 0;
}

static int undo(const struct benchmark *b, struct cell *c, unsigned int i)
{
	long err = b->undo ? b->undo(c, i) : 0;

	return err < 0 ? explain(c, "undo", err) : 0;
}

static __attribute__((noinline)) void touch_near(void)
{
	volatile char stack[2 * PAGE_SIZE];

	stack[0] = stack[PAGE_SIZE] = 0;
}

static int operate(const struct benchmark *b, struct cell *c, unsigned int i,
		   int marked)
{
	long result;

	result = first_before(c);
	if (result < 0)
		return result;
	/*
	 * After a fork every page is copied at its next write. Operations write to their stack;
	 * touching all memory would take longer than a fork.
	 */
	if (b->counts_children)
		touch_near();

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
	return result < 0 ? explain(c, b->syscalls, result) : 0;
}

int operate_alone(const struct cell_spec *spec, struct cell *c, unsigned int n, unsigned int i,
		  int marked)
{
	const struct benchmark *b = spec->benchmark;
	int err, undone;

	err = prepare(b, c, i);
	if (err)
		return err;
	if (spec->cold)
		err = drop_caches();
	if (err)
		return explain(c, "dropping caches", err);
	if (marked)
		delay_operation(spec, n);
	err = operate(b, c, i, marked);
	if (marked && (b->prepare || b->undo || spec->cold))
		delay_nothing();
	undone = undo(b, c, i);
	return err ? err : undone;
}

/* One operation, with a report of its hook calls. */
static int ask(const struct cell_spec *spec, struct cell *c)
{
	const struct benchmark *b = spec->benchmark;
	int err = prepare(b, c, 0), undone;

	if (err)
		return err;
	if (spec->cold)
		err = drop_caches();
	if (err)
		return explain(c, "dropping caches", err);
	ask_begin(spec);
	err = operate(b, c, 0, 0);
	ask_end(spec);
	undone = undo(b, c, 0);
	return err ? err : undone;
}

/* All operations at one position come first, then those at the next. */
static unsigned int name_position(unsigned int i, unsigned int n)
{
	return (u64)i * NAME_POSITIONS / n;
}

/* Nothing is undone, because the copy exits afterwards. */
static int operate_together(const struct cell_spec *spec, struct cell *c,
			    unsigned int n, struct outcome *out)
{
	const struct benchmark *b = spec->benchmark;
	unsigned int i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		names_move(name_position(i, n));
		delay_operation(spec, i);
		err = operate(b, c, i, 1);
		if (!err)
			out->operations++;
	}
	return err;
}

int count_instructions(const struct cell_spec *spec, struct cell *c,
		       struct outcome *out)
{
	const struct benchmark *b = spec->benchmark;
	unsigned int samples = b->repetitions && !spec->points ? b->repetitions
								: spec->samples;
	unsigned int together = spec->variant->together;
	unsigned int warmup = spec->warmup, n;
	int err = 0;

	if (spec->transfers)
		return count_transfers(spec, c, out);
	/* Benchmarks with a required number have long operations. */
	if (b->repetitions && warmup > 1)
		warmup = 1;
	err = first_begin(c);
	for (n = 0; n < warmup && !err; n++)
		err = operate_alone(spec, c, n, n % slots(b), 0);
	if (spec->ask && !err)
		err = ask(spec, c);
	if (err)
		return err;
	/* A sweep needs only the calls of an operation, not long-term costs. */
	if (spec->points && together > samples)
		together = samples;
	/* This is done before the measurement begins, because emulation is faster there. */
	for (n = 0; n < together && !err; n++)
		err = prepare(b, c, n);
	if (err)
		return err;

	out->samples = together ? together : samples;
	marker(MARKER_CELL_BEGIN);
	if (together)
		err = operate_together(spec, c, together, out);
	for (n = 0; !together && n < samples && !err; n++) {
		names_move(name_position(n, samples));
		err = operate_alone(spec, c, n, (warmup + n) % slots(b), 1);
		if (!err)
			out->operations++;
	}
	marker(MARKER_CELL_END);
	delay_nothing();
	if (!is_last)
		names_move(0);
	return err;
}
