// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timed metrics. Only the loop over op() is between two clock readings, without prepare() and
 * undo(). Nothing is sent during a measurement.
 */
#include "agent.h"

#define BATCH_MAX	(1u << 20)	/* if a benchmark sets no limit */
#define SIZING_TRIES	3
#define NS_PER_MS	1000000ull
#define DISTURBED	(1ull << 63)	/* flag in a sample's operations */
#define FEW_ALONE	8		/* with this many undisturbed ones, others are left out */

unsigned int batch_limit(const struct cell_spec *spec)
{
	unsigned int limit = spec->benchmark->max_batch;

	if (spec->metric == METRIC_INSTRUCTIONS)
		return limit ? limit : 4096;
	return limit && limit < BATCH_MAX ? limit : BATCH_MAX;
}

/*
 * One batch of n operations; adds its time to *ns. If `alone` is given, waits for a moment at
 * which nobody else uses the processor's core, and reports whether it found one.
 */
static int run_batch(const struct benchmark *b, struct cell *c, unsigned int n,
		     u64 *ns, int *alone)
{
	unsigned int i, prepared = n;
	long err = 0, result = 0, undone;
	u64 begin, end;

	for (i = 0; b->prepare && i < n; i++) {
		err = b->prepare(c, i);
		if (err < 0) {
			explain(c, "prepare", err);
			prepared = i;
			goto undo;
		}
	}
	if (b->counts_children)
		touch_memory();

	if (alone)
		*alone = undisturbed_wait();
	begin = now_ns();
	for (i = 0; i < n; i++) {
		result = b->op(c, i);
		if (result < 0)
			break;
	}
	end = now_ns();
	*ns += end - begin;
	if (alone && *alone)
		*alone = undisturbed();

	err = 0;
	if (result < 0)
		err = explain(c, b->syscalls, result);
undo:
	/* After a failure, undoes the rest as far as possible. */
	for (i = 0; b->undo && i < prepared; i++) {
		undone = b->undo(c, i);
		if (undone < 0 && err >= 0)
			err = explain(c, "undo", undone);
	}
	return err < 0 ? err : 0;
}

static int clock_share_ok(u64 ns, u32 per_mille)
{
	return clock_cost_ns * 2 * 1000 <= ns * per_mille;
}

/* Doubles the batch until the clock's share is small enough. */
static int size_batch(const struct cell_spec *spec, struct cell *c, u32 *batch)
{
	const struct benchmark *b = spec->benchmark;
	unsigned int tries = b->repetitions ? 1 : SIZING_TRIES;
	unsigned int limit = batch_limit(spec), i;
	u32 n = 1;

	for (;;) {
		u64 least = ~0ull;

		for (i = 0; i < tries; i++) {
			u64 ns = 0;
			int alone, err = run_batch(b, c, n, &ns, &alone);

			if (err)
				return err;
			if (ns < least)
				least = ns;
		}
		*batch = n;
		if (clock_share_ok(least, spec->share))
			return 0;
		if (n == limit) {
			send_log("cell %u: %s %s: a batch of %u takes %lu ns, "
				 "more than %u per mille of it for the clock",
				 spec->id, b->name, spec->variant->name, n,
				 least, spec->share);
			return 0;
		}
		n = n > limit / 2 ? limit : n * 2;
	}
}

/* Keeps the undisturbed samples, if there are as many as requested or enough. */
static void keep_samples(struct outcome *out, u32 taken, u32 undisturbed_samples, u32 asked)
{
	int all = undisturbed_samples < FEW_ALONE && undisturbed_samples < asked;
	u32 i;

	for (i = 0; i < taken; i++) {
		struct sample s = cell_samples[i];

		if (!all && s.operations & DISTURBED)
			continue;
		s.operations &= ~DISTURBED;
		s.ns = at_pace(s.ns);
		out->operations += s.operations;
		cell_samples[out->samples++] = s;
	}
	out->disturbed = out->samples - undisturbed_samples;
}

int measure_time(const struct cell_spec *spec, struct cell *c,
		 struct outcome *out)
{
	const struct benchmark *b = spec->benchmark;
	u32 samples = b->repetitions ? b->repetitions : spec->samples;
	/* Benchmarks with required repetitions cannot replace a sample. */
	u32 most = b->repetitions ? samples : SAMPLES_MAX;
	u32 batch = 0, taken = 0, kept = 0;
	u64 done, ns;
	int err, alone;

	undisturbed_next_cell();
	err = size_batch(spec, c, &batch);
	/* Sizing has already run benchmarks with required repetitions once. */
	for (done = 0; !err && !b->repetitions && done < spec->warmup; done += batch) {
		ns = 0;
		err = run_batch(b, c, batch, &ns, NULL);
	}
	while (!err && kept < samples && taken < most) {
		ns = 0;
		delay_operation(spec, taken);
		err = run_batch(b, c, batch, &ns, &alone);
		if (err)
			break;
		cell_samples[taken] = (struct sample){ alone ? batch : batch | DISTURBED, ns };
		kept += alone;
		taken++;
		/* If waiting was in vain, takes samples as they come. */
		if (!alone && !undisturbed_lost(ns))
			most = samples;
	}
	delay_nothing();
	keep_samples(out, taken, kept, samples);
	out->batch = batch;
	return err;
}

/*
 * Warms up for the requested time and finds the size of a round: as many operations as may be
 * prepared at once (mkdir: all its names), or, if unlimited, a small part of a slice. A slice ends
 * with the round in which its time is up.
 */
static int warm_up(const struct cell_spec *spec, struct cell *c, u64 slice_ns,
		   u32 *round)
{
	const struct benchmark *b = spec->benchmark;
	u64 begin = now_ns(), ns;
	u32 n = b->max_batch ? batch_limit(spec) : 1;
	int err, sized = b->max_batch != 0;

	while (!sized || now_ns() - begin < spec->warmup * NS_PER_MS) {
		ns = 0;
		err = run_batch(b, c, n, &ns, NULL);
		if (err)
			return err;
		if (sized)
			continue;
		if (ns >= slice_ns / 64 || n >= BATCH_MAX / 2)
			sized = 1;
		else
			n *= 2;
	}
	*round = n;
	return 0;
}

int measure_throughput(const struct cell_spec *spec, struct cell *c,
		       struct outcome *out)
{
	u64 slice_ns = spec->ms * NS_PER_MS / spec->samples;
	struct sample *s;
	u32 i, round = 0;
	int err;

	err = warm_up(spec, c, slice_ns, &round);
	for (i = 0; !err && i < spec->samples; i++) {
		s = &cell_samples[i];
		*s = (struct sample){ 0, 0 };
		do {
			err = run_batch(spec->benchmark, c, round, &s->ns, NULL);
			s->operations += round;
		} while (!err && s->ns < slice_ns);
		if (!err)
			out->operations += s->operations;
	}
	out->samples = i;
	out->batch = round;
	return err;
}
