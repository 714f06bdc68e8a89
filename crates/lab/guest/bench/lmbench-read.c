// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: read of one byte from /dev/zero. Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	return open_as(c, 0, "/dev/zero", O_RDONLY);
}

static long op(struct cell *c, unsigned int i)
{
	return sys_read(c->fd[0], slot_data(c), 1);
}

static int check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	data[0] = data[1] = 'x';
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != 1 || data[0] != 0 || data[1] != 'x')
		return failed(c, "read: wrong result", 0);
	return 0;
}

static void teardown(struct cell *c)
{
	close_as(c, 0);
}

static const struct variant variants[] = {
	{ .name = "1B" },
	{ }
};

BENCHMARK(lmbench_read) = {
	.name = "lmbench-read",
	.summary = "read of one byte from /dev/zero",
	.source = "LMbench lat_syscall read; LSMPMON Tables 3 and 4: the row read/write is the mean of lmbench-read and lmbench-write",
	.syscalls = "read",
	.variants = variants,
	.class = CLASS_READ_WRITE,
	.suite = SUITE_LMBENCH,
	.number = 3,
	.measures = MEASURE_LATENCY,
	.setup = setup,
	.check = check,
	.op = op,
	.teardown = teardown,
};
