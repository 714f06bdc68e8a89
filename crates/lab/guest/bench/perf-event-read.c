// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: read of the count of a software event. Nothing to undo. */
#include "../perf-event.h"

static long op(struct cell *c, unsigned int i)
{
	return sys_read(c->fd[0], slot_data(c), sizeof(u64));
}

static int check(struct cell *c)
{
	u64 *count = (u64 *)slot_data(c);
	long ret;

	*count = 1;
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != sizeof(*count) || *count)
		return failed(c, "read: wrong count", 0);
	/* There is no room for it. */
	return sys_read(c->fd[0], slot_data(c), 1) == -ENOSPC ? 0 :
	       failed(c, "read: wrong result", 0);
}

BENCH("perf-event-read", TRACE, IPC, 31, "read of the count of a software event",
      .source = "perf_event_open(2)", .syscalls = "read", .variants = VARIANTS({ "dummy" }),
      .setup = set_up_event, .check = check, .op = op, .teardown = tear_down_event);
