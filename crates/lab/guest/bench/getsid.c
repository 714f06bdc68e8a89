// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: getsid of a child. Nothing to undo. */
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(getsid, c->state[CHILD]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	return ret == SYS(getsid, 0) ? 0 : failed(c, "getsid: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "child" },
	{ }
};

BENCHMARK(bench_getsid) = {
	.name = "getsid",
	.summary = "getsid of a child",
	.source = "getsid(2)",
	.syscalls = "getsid",
	.variants = variants,
	.class = CLASS_PROCESS,
	.suite = SUITE_PROCESS,
	.number = 12,
	.measures = MEASURE_LATENCY,
	.setup = start_child,
	.check = check,
	.op = op,
	.teardown = end_child,
};
