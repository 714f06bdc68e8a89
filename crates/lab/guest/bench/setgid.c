// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: setgid to the group that the process has. Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	c->state[0] = SYS(getgid);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(setgid, c->state[0]);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(getgid) != c->state[0] || SYS(setgid, -1) != -EINVAL)
		return failed(c, "setgid: wrong result", 0);
	return 0;
}

static const struct variant variants[] = {
	{ .name = "same" },
	{ }
};

BENCHMARK(bench_setgid) = {
	.name = "setgid",
	.summary = "setgid to the group that the process has",
	.source = "setgid(2)",
	.syscalls = "setgid",
	.variants = variants,
	.class = CLASS_CREDENTIALS,
	.suite = SUITE_PROCESS,
	.number = 4,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
};
