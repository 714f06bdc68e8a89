// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: perf_event_open of a software event of the task itself. Undone outside: close. */
#include <linux/perf_event.h>
#include "slots.h"

static int setup(struct cell *c)
{
	struct perf_event_attr *attr = (struct perf_event_attr *)slot_name(c, 0);

	attr->type = PERF_TYPE_SOFTWARE;
	attr->size = sizeof(*attr);
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long fd = SYS(perf_event_open, slot_name(c, 0), 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	c->fd[0] = fd;
	return fd;
}

static int undo(struct cell *c, unsigned int i)
{
	return sys_close(c->fd[0]);
}

static int check(struct cell *c)
{
	u64 count = 1;
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no perf_event_open", ret);
	if (ret == -EACCES || ret == -EPERM)
		return unsupported(c, "this machine lets only root measure", ret);
	if (ret >= 0)
		ret = sys_read(c->fd[0], &count, sizeof(count));
	if (ret < 0)
		return ret;
	return !count ? undo(c, 0) : failed(c, "perf_event_open: wrong result", 0);
}

static const struct variant variants[] = {
	{ .name = "dummy" },
	{ }
};

BENCHMARK(bench_perf_event_open) = {
	.name = "perf_event_open",
	.summary = "perf_event_open of a software event",
	.source = "perf_event_open(2)",
	.syscalls = "perf_event_open",
	.variants = variants,
	.class = CLASS_TRACE,
	.suite = SUITE_IPC,
	.number = 24,
	.measures = MEASURE_LATENCY,
	.max_batch = 1,
	.setup = setup,
	.check = check,
	.op = op,
	.undo = undo,
};
