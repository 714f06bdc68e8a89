// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: ioctl(LOOP_CTL_ADD), which makes a block device. It waits for the task of the kernel that
 * makes the device's node: the work of all tasks counts. Undone outside: LOOP_CTL_REMOVE.
 */
#include <linux/loop.h>
#include "slots.h"

#define NUMBER	200	/* of the device: above those that the driver makes by itself */

static int setup(struct cell *c)
{
	long ret = open_as(c, 0, "/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (ret == -ENOENT || ret == -EACCES || ret == -EPERM || ret == -ENODEV)
		return unsupported(c, "no loop devices here, or not for this user", ret);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(ioctl, c->fd[0], LOOP_CTL_ADD, NUMBER);
}

static int undo(struct cell *c, unsigned int i)
{
	return SYS(ioctl, c->fd[0], LOOP_CTL_REMOVE, NUMBER);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EPERM)
		return unsupported(c, "loop devices are not for this user", ret);
	if (ret < 0)
		return ret;
	ret = op(c, 0);
	return ret == -EEXIST ? undo(c, 0) : failed(c, "LOOP_CTL_ADD: wrong result", ret);
}

static void teardown(struct cell *c)
{
	close_as(c, 0);
}

static const struct variant variants[] = {
	{ .name = "LOOP_CTL_ADD", .modules = "loop" },
	{ }
};

BENCHMARK(bench_loop) = {
	.name = "loop",
	.summary = "a loop device, made",
	.source = "loop(4)",
	.syscalls = "ioctl",
	.variants = variants,
	.class = CLASS_ADMIN,
	.suite = SUITE_ADMIN,
	.number = 23,
	.measures = MEASURE_LATENCY,
	.counts_children = 1,
	.max_batch = 1,
	.setup = setup,
	.check = check,
	.op = op,
	.undo = undo,
	.teardown = teardown,
};
