// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: setgroups to the groups that the process has. Nothing to undo. */
#include "slots.h"

#define GROUPS_MAX	1024

static int setup(struct cell *c)
{
	long count = SYS(getgroups, GROUPS_MAX, slot_data(c));

	if (count < 0)
		return count;
	c->state[0] = count;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(setgroups, c->state[0], slot_data(c));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_SETGID", ret);
	if (ret < 0)
		return ret;
	return SYS(getgroups, 0, NULL) == c->state[0] ? 0 : failed(c, "setgroups: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "same" },
	{ }
};

BENCHMARK(bench_setgroups) = {
	.name = "setgroups",
	.summary = "setgroups to the groups that the process has",
	.source = "setgroups(2)",
	.syscalls = "setgroups",
	.variants = variants,
	.class = CLASS_CREDENTIALS,
	.suite = SUITE_PROCESS,
	.number = 5,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
};
