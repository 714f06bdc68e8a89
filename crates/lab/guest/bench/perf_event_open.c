// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: perf_event_open of a software event of the task itself. Undone outside: close. */
#include "../perf-event.h"

static int setup(struct cell *c)
{
	describe_event(c);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long fd = open_event(c);

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

	if (ret < 0)
		return no_event(c, ret);
	ret = sys_read(c->fd[0], &count, sizeof(count));
	if (ret < 0)
		return ret;
	return !count ? undo(c, 0) : failed(c, "perf_event_open: wrong result", 0);
}

BENCH("perf_event_open", TRACE, IPC, 24, "perf_event_open of a software event",
      .max_batch = 1, .variants = VARIANTS({ "dummy" }),
      .setup = setup, .check = check, .op = op, .undo = undo);
