// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: open of a file of /proc/sys, a read of its value, and close. Nothing to undo.
 */
#include "slots.h"

#define PATH		"/proc/sys/kernel/threads-max"
#define VALUE_MAX	64

static long read_value(char *value)
{
	long fd = sys_open(PATH, O_RDONLY | O_CLOEXEC, 0), len;

	if (fd < 0)
		return fd;
	len = sys_read(fd, value, VALUE_MAX);
	sys_close(fd);
	return len;
}

static int setup(struct cell *c)
{
	long len = read_value(slot_data(c));

	if (len < 0)
		return unsupported(c, "no " PATH " here", len);
	c->state[0] = len;	/* the value's */
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long fd = sys_open(PATH, O_RDONLY | O_CLOEXEC, 0), ret;

	if (fd < 0)
		return fd;
	ret = sys_read(fd, slot_data(c), VALUE_MAX);
	sys_close(fd);
	return ret;
}

static int check(struct cell *c)
{
	char *again = slot_data(c) + VALUE_MAX;
	long ret = op(c, 0);

	if (ret == -EACCES || ret == -EROFS || ret == -EPERM)
		return unsupported(c, PATH " is not for this user to write", ret);
	if (ret < 0)
		return ret;
	if (ret != c->state[0] || read_value(again) != ret || memcmp(again, slot_data(c), ret))
		return failed(c, "sysctl: wrong value", 0);
	return 0;
}

static const struct variant variants[] = {
	{ .name = "number" },
	{ }
};

BENCHMARK(bench_sysctl_read) = {
	.name = "sysctl-read",
	.summary = "a setting of the kernel in /proc/sys, read",
	.source = "proc(5)",
	.syscalls = "open read close",
	.variants = variants,
	.class = CLASS_ADMIN,
	.suite = SUITE_ADMIN,
	.number = 3,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
};
