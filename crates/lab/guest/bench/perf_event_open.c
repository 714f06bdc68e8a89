// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: perf_event_open of a software event of the task itself. Undone outside: close. */
#include "../perf-event.h"

static int setup(struct cell *c)
{
	describe_event(c);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long fd = open_event(c);

	c->fd[0] = fd;
	return fd;
}

static int undo(struct cell *c, unsigned int i)
{
	return sys_close(c->fd[0]);
}

static int check(struct cell *c)
{
	u64 count = 1;
	long ret = op(c, 0);

	if (ret < 0)
		return no_event(c, ret);
	ret = sys_read(c->fd[0], &count, sizeof(count));
	if (ret < 0)
		return ret;
	return !count ? undo(c, 0) : failed(c, "perf_event_open: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "dummy" },
	{ }
};

BENCHMARK(bench_perf_event_open) = {
	.name = "perf_event_open",
	.summary = "perf_event_open of a software event",
	.source = "perf_event_open(2)",
	.syscalls = "perf_event_open",
	.variants = variants,
	.class = CLASS_TRACE,
	.suite = SUITE_IPC,
	.number = 24,
	.measures = MEASURE_LATENCY,
	.max_batch = 1,
	.setup = setup,
	.check = check,
	.op = op,
	.undo = undo,
};
