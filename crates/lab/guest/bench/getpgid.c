// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: getpgid of a child. Nothing to undo. */
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(getpgid, c->state[CHILD]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	return ret == SYS(getpgid, 0) ? 0 : failed(c, "getpgid: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "child" },
	{ }
};

BENCHMARK(bench_getpgid) = {
	.name = "getpgid",
	.summary = "getpgid of a child",
	.source = "getpgid(2)",
	.syscalls = "getpgid",
	.variants = variants,
	.class = CLASS_PROCESS,
	.suite = SUITE_PROCESS,
	.number = 11,
	.measures = MEASURE_LATENCY,
	.setup = start_child,
	.check = check,
	.op = op,
	.teardown = end_child,
};
