// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: umount of a tmpfs. It waits for a grace period of RCU, in which other tasks of the
 * kernel run: their work counts. Undone outside: mount.
 */
#include <asm/stat.h>
#include "mounts.h"

static int setup(struct cell *c)
{
	return make_mount(c, PLACE);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(umount2, PLACE, 0);
}

static int undo(struct cell *c, unsigned int i)
{
	return mount_tmpfs(PLACE, 0, NULL);
}

static void teardown(struct cell *c)
{
	SYS(umount2, PLACE, 0);
}

static int check(struct cell *c)
{
	struct stat *before = (struct stat *)slot_data(c), *after = before + 1;
	long ret = SYS(stat, PLACE, before);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret >= 0)
		ret = SYS(stat, PLACE, after);
	if (ret < 0)
		return ret;
	return before->st_dev != after->st_dev ? undo(c, 0) : failed(c, "umount: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "tmpfs" },
	{ }
};

BENCHMARK(bench_umount) = {
	.name = "umount",
	.summary = "umount of an empty tmpfs",
	.source = "umount(2)",
	.syscalls = "umount2",
	.variants = variants,
	.class = CLASS_ADMIN,
	.suite = SUITE_ADMIN,
	.number = 22,
	.measures = MEASURE_LATENCY,
	.counts_children = 1,
	.max_batch = 1,
	.setup = setup,
	.check = check,
	.op = op,
	.undo = undo,
	.teardown = teardown,
};
