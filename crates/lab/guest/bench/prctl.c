// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: prctl that asks, or sets what is set. Nothing to undo. */
#include <linux/prctl.h>
#include "slots.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(prctl, c->variant->arg, 0, 0, 0, 0);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	/* There is no such option. */
	return SYS(prctl, 0x7fffffff, 0, 0, 0, 0) == -EINVAL ? 0 : failed(c, "prctl: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "PR_GET_DUMPABLE", .arg = PR_GET_DUMPABLE },
	{ .name = "PR_SET_KEEPCAPS", .arg = PR_SET_KEEPCAPS },
	{ .name = "PR_CAPBSET_READ", .arg = PR_CAPBSET_READ },
	{ }
};

BENCHMARK(bench_prctl) = {
	.name = "prctl",
	.summary = "prctl that asks, or sets what is set",
	.source = "prctl(2)",
	.syscalls = "prctl",
	.variants = variants,
	.class = CLASS_CREDENTIALS,
	.suite = SUITE_PROCESS,
	.number = 8,
	.measures = MEASURE_LATENCY,
	.check = check,
	.op = op,
};
