// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: mount of an empty tmpfs. Undone outside: umount2. */
#include <linux/mount.h>
#include <asm/stat.h>
#include "slots.h"

#define PLACE	"place"

static long mount_it(unsigned long flags)
{
	return SYS(mount, "lsmeter", PLACE, "tmpfs", flags, NULL);
}

static struct stat *stat_of(struct cell *c, unsigned int n)
{
	return (struct stat *)slot_data(c) + n;
}

static int setup(struct cell *c)
{
	return sys_mkdir(PLACE, 0755);
}

static long op(struct cell *c, unsigned int i)
{
	return mount_it(0);
}

static int undo(struct cell *c, unsigned int i)
{
	return SYS(umount2, PLACE, 0);
}

static int check(struct cell *c)
{
	long ret = SYS(stat, PLACE, stat_of(c, 0));

	if (ret >= 0)
		ret = op(c, 0);
	if (ret == -EPERM || ret == -EACCES || ret == -ENODEV)
		return unsupported(c, "no tmpfs for this user to mount", ret);
	if (ret >= 0)
		ret = SYS(stat, PLACE, stat_of(c, 1));
	if (ret >= 0)
		ret = undo(c, 0);
	if (ret < 0)
		return ret;
	return stat_of(c, 0)->st_dev != stat_of(c, 1)->st_dev ? 0 :
	       failed(c, "mount: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "tmpfs" },
	{ }
};

BENCHMARK(bench_mount) = {
	.name = "mount",
	.summary = "mount of an empty tmpfs",
	.source = "mount(2)",
	.syscalls = "mount",
	.variants = variants,
	.class = CLASS_ADMIN,
	.suite = SUITE_ADMIN,
	.number = 5,
	.measures = MEASURE_LATENCY,
	.max_batch = 1,
	.setup = setup,
	.check = check,
	.op = op,
	.undo = undo,
};
