// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: stat of an empty file three components down, as LMbench stats
 * /usr/tmp/lmbench or /var/tmp/lmbench. Nothing to undo.
 */
#include <asm/stat.h>
#include "slots.h"

static int setup(struct cell *c)
{
	int ret = make_dirs(c->variant->path);

	if (ret < 0)
		return ret;
	return make_file(c->variant->path, 0);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(stat, c->variant->path, slot_data(c));
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret;

	st->st_mode = 0;
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (!S_ISREG(st->st_mode) || st->st_size)
		return failed(c, "stat: wrong result", 0);
	return 0;
}

static const struct variant variants[] = {
	{ .name = "var/tmp/lmbench", .path = "var/tmp/lmbench", .depth = 3 },
	{ }
};

BENCHMARK(lmbench_stat) = {
	.name = "lmbench-stat",
	.summary = "stat of a file three components down",
	.source = "LMbench lat_syscall stat; LSMPMON Tables 3 and 4, row stat",
	.syscalls = "stat",
	.variants = variants,
	.class = CLASS_ATTR,
	.suite = SUITE_LMBENCH,
	.number = 1,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
};
