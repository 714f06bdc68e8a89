// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: ioctl(LOOP_CTL_ADD), which creates a block device. It waits for the kernel task that
 * creates the device node, so the work of all tasks counts. Undo: LOOP_CTL_REMOVE.
 */
#include <linux/loop.h>
#include <linux/time.h>
#include "slots.h"

#define TICK_NS	4000000	/* at 250 ticks per second; longer operations are interrupted */
#define NUMBER	200	/* of the device: above those that the driver creates */

static int setup(struct cell *c)
{
	long ret = open_as(c, 0, "/dev/loop-control", O_RDWR | O_CLOEXEC);

	if (ret == -ENOENT || ret == -EACCES || ret == -EPERM || ret == -ENODEV)
		return unsupported(c, "no loop devices here, or not for this user", ret);
	return ret;
}

OP(op, SYS(ioctl, c->fd[0], LOOP_CTL_ADD, NUMBER));

SLOT(undo, SYS(ioctl, c->fd[0], LOOP_CTL_REMOVE, NUMBER));

static long clock_ns(void)
{
	struct timespec time;

	SYS(clock_gettime, CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The shortest of several calls, because others may be disturbed. */
static long shortest_ns(struct cell *c)
{
	long least = 0, took, ret;
	int n;

	for (n = 0; n < 3; n++) {
		took = clock_ns();
		ret = op(c, 0);
		took = clock_ns() - took;
		if (ret < 0)
			return ret;
		ret = undo(c, 0);
		if (ret < 0)
			return ret;
		if (!n || took < least)
			least = took;
	}
	return least;
}

static int check(struct cell *c)
{
	long ret = shortest_ns(c);

	/* elevator_init_mq() waits in Linux 5.10, not in 6.1. */
	if (ret > TICK_NS)
		return unsupported(c, "making one waits for a grace period on this kernel", 0);
	if (ret >= 0)
		ret = op(c, 0);

	if (ret == -EPERM)
		return unsupported(c, "loop devices are not for this user", ret);
	if (ret < 0)
		return ret;
	ret = op(c, 0);
	return ret == -EEXIST ? undo(c, 0) : failed(c, "LOOP_CTL_ADD: wrong result", ret);
}

BENCH("loop", ADMIN, ADMIN, 23, "a loop device, made",
      .source = "loop(4)", .syscalls = "ioctl", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "LOOP_CTL_ADD", .modules = "loop" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = close_file);
