// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: access(R_OK) of a readable regular file. Nothing to undo. */
#include "slots.h"

#define READ_OK	4	/* R_OK of unistd.h */

static int setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");

	if (ret < 0)
		return ret;
	return make_file("AA/BB", 0);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(access, "AA/BB", READ_OK);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(access, "AA/missing", READ_OK) == -ENOENT)
		return 0;
	return failed(c, "access: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "AA/BB", .depth = 2 },
	{ }
};

BENCHMARK(bench_access) = {
	.name = "access",
	.summary = "access of a regular file for reading",
	.source = "access(2)",
	.syscalls = "access",
	.variants = variants,
	.class = CLASS_ATTR,
	.suite = SUITE_BEYOND,
	.number = 4,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
};
