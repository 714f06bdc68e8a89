// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: mount(MS_REMOUNT) of a tmpfs with the flags that it has. Nothing to undo. */
#include <linux/mount.h>
#include "slots.h"

#define PLACE	"place"

static long mount_it(unsigned long flags)
{
	return SYS(mount, "lsmeter", PLACE, "tmpfs", flags, NULL);
}

static int setup(struct cell *c)
{
	long ret = sys_mkdir(PLACE, 0755);

	if (ret >= 0)
		ret = mount_it(0);
	if (ret == -EPERM || ret == -EACCES || ret == -ENODEV)
		return unsupported(c, "no tmpfs for this user to mount", ret);
	if (ret < 0)
		return ret;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return mount_it(MS_REMOUNT);
}

static int check(struct cell *c)
{
	long ret = mount_it(MS_REMOUNT | MS_RDONLY);

	if (ret < 0)
		return ret;
	if (sys_mkdir(PLACE "/dir", 0755) != -EROFS)
		return failed(c, "mount: wrong result", 0);
	ret = op(c, 0);
	return ret < 0 ? ret : sys_mkdir(PLACE "/dir", 0755);
}

static void teardown(struct cell *c)
{
	SYS(umount2, PLACE, 0);
}

static const struct variant variants[] = {
	{ .name = "tmpfs" },
	{ }
};

BENCHMARK(bench_remount) = {
	.name = "remount",
	.summary = "mount again of a tmpfs with the flags that it has",
	.source = "mount(2)",
	.syscalls = "mount",
	.variants = variants,
	.class = CLASS_ADMIN,
	.suite = SUITE_ADMIN,
	.number = 6,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
	.teardown = teardown,
};
