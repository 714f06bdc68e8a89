// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: prlimit64 of a child that asks for its limit of open files. Nothing to undo. */
#include <linux/resource.h>
#include "../child.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(prlimit64, c->state[CHILD], RLIMIT_NOFILE, NULL, slot_data(c));
}

static int check(struct cell *c)
{
	u64 *got = (u64 *)slot_data(c), *own = got + 2;
	long ret = op(c, 0);

	if (ret >= 0)
		ret = SYS(getrlimit, RLIMIT_NOFILE, own);
	if (ret < 0)
		return ret;
	return memcmp(got, own, 2 * sizeof(u64)) ? failed(c, "prlimit64: wrong result", 0) : 0;
}

static const struct variant variants[] = {
	{ .name = "child" },
	{ }
};

BENCHMARK(bench_prlimit64) = {
	.name = "prlimit64",
	.summary = "a limit of a child",
	.source = "prlimit64(2)",
	.syscalls = "prlimit64",
	.variants = variants,
	.class = CLASS_SCHEDULING,
	.suite = SUITE_PROCESS,
	.number = 10,
	.measures = MEASURE_LATENCY,
	.setup = start_child,
	.check = check,
	.op = op,
	.teardown = end_child,
};
