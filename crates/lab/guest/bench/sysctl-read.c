// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: open of a file of /proc/sys, a read of its value, and close. Nothing to undo.
 */
#include "../sysctl.h"

static long op(struct cell *c, unsigned int i)
{
	return read_value(slot_data(c));
}

static int check(struct cell *c)
{
	return check_value(c, op(c, 0));
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
	.setup = keep_value,
	.check = check,
	.op = op,
};
