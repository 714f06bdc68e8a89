// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: chroot into a directory. Undone outside: chroot back, by a descriptor of the old root.
 */
#include "mounts.h"

static int setup(struct cell *c)
{
	int ret = make_dirs(PLACE "/");

	if (ret >= 0)
		ret = make_file(PLACE "/inside", 0);
	return ret < 0 ? ret : remember_root(c);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(chroot, PLACE);
}

static int undo(struct cell *c, unsigned int i)
{
	return go_back(c);
}

static int check(struct cell *c)
{
	long ret = op(c, 0), fd;

	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_SYS_CHROOT", ret);
	if (ret < 0)
		return ret;
	fd = sys_open("/inside", O_RDONLY | O_CLOEXEC, 0);
	ret = undo(c, 0);
	if (fd < 0)
		return failed(c, "chroot: wrong root", fd);
	sys_close(fd);
	return ret;
}

static void teardown(struct cell *c)
{
	forget_root(c);
}

static const struct variant variants[] = {
	{ .name = "directory" },
	{ }
};

BENCHMARK(bench_chroot) = {
	.name = "chroot",
	.summary = "chroot into a directory",
	.source = "chroot(2)",
	.syscalls = "chroot",
	.variants = variants,
	.class = CLASS_ADMIN,
	.suite = SUITE_ADMIN,
	.number = 10,
	.measures = MEASURE_LATENCY,
	.max_batch = 1,
	.setup = setup,
	.check = check,
	.op = op,
	.undo = undo,
	.teardown = teardown,
};
