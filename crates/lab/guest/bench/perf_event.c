// SPDX-License-Identifier: GPL-2.0-or-later
#include "../perf-event.h"

static int setup(struct cell *c)
{
	describe_event(c);
	return 0;
}

static long perf_event_open_op(struct cell *c, unsigned int i)
{
	long fd = open_event(c);

	c->fd[0] = fd;
	return fd;
}

SLOT(undo, sys_close(c->fd[0]));

static int perf_event_open_check(struct cell *c)
{
	u64 count = 1;
	long ret = perf_event_open_op(c, 0);

	if (ret < 0)
		return no_event(c, ret);
	ret = sys_read(c->fd[0], &count, sizeof(count));
	if (ret < 0)
		return ret;
	return !count ? undo(c, 0) : failed(c, "perf_event_open: wrong result", 0);
}

BENCH("perf_event_open", TRACE, IPC, 24, "perf_event_open of a software event",
      .max_batch = 1, .variants = VARIANTS({ "dummy" }),
      .setup = setup, .check = perf_event_open_check, .op = perf_event_open_op, .undo = undo);

OP(perf_event_read_op, sys_read(c->fd[0], slot_data(c), sizeof(u64)));

static int perf_event_read_check(struct cell *c)
{
	u64 *count = (u64 *)slot_data(c);
	long ret;

	*count = 1;
	ret = perf_event_read_op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != sizeof(*count) || *count)
		return failed(c, "read: wrong count", 0);
	/* The buffer is too small. */
	return sys_read(c->fd[0], slot_data(c), 1) == -ENOSPC ? 0 :
	       failed(c, "read: wrong result", 0);
}

BENCH("perf-event-read", TRACE, IPC, 31, "read of the count of a software event",
      .source = "perf_event_open(2)", .syscalls = "read", .variants = VARIANTS({ "dummy" }),
      .setup = set_up_event, .check = perf_event_read_check, .op = perf_event_read_op,
      .teardown = tear_down_event);

OP(perf_event_ioctl_op, SYS(ioctl, c->fd[0], c->variant->arg, 0));

static int perf_event_ioctl_check(struct cell *c)
{
	long ret = perf_event_ioctl_op(c, 0);

	if (ret < 0)
		return ret;
	/* There is no such command. */
	return SYS(ioctl, c->fd[0], c->variant->arg + 0xf0, 0) == -ENOTTY ? 0 :
	       failed(c, "ioctl: wrong result", 0);
}

BENCH("perf-event-ioctl", TRACE, IPC, 32, "ioctl of a software event",
      .source = "perf_event_open(2)", .syscalls = "ioctl",
      .variants = VARIANTS({ "RESET", .arg = PERF_EVENT_IOC_RESET }),
      .setup = set_up_event, .check = perf_event_ioctl_check, .op = perf_event_ioctl_op,
      .teardown = tear_down_event);
