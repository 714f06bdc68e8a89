// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: ioctl of a software event that sets its count to 0. Nothing to undo. */
#include "../perf-event.h"

static long op(struct cell *c, unsigned int i)
{
	return SYS(ioctl, c->fd[0], c->variant->arg, 0);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	/* There is no such command. */
	return SYS(ioctl, c->fd[0], c->variant->arg + 0xf0, 0) == -ENOTTY ? 0 :
	       failed(c, "ioctl: wrong result", 0);
}

BENCH("perf-event-ioctl", TRACE, IPC, 32, "ioctl of a software event",
      .source = "perf_event_open(2)", .syscalls = "ioctl",
      .variants = VARIANTS({ "RESET", .arg = PERF_EVENT_IOC_RESET }),
      .setup = set_up_event, .check = check, .op = op, .teardown = tear_down_event);
