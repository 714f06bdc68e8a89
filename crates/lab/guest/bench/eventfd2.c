// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: eventfd2, with a count of 1. Undone outside: close. */
#include "slots.h"

static long op(struct cell *c, unsigned int i)
{
	long fd = SYS(eventfd2, 1, O_CLOEXEC);

	*slot_fd(c, i) = fd;
	return fd;
}

static int undo(struct cell *c, unsigned int i)
{
	return sys_close(*slot_fd(c, i));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);
	u64 count = 0;

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no eventfd", ret);
	if (ret >= 0)
		ret = sys_read(*slot_fd(c, 0), &count, sizeof(count));
	if (ret < 0)
		return ret;
	return count == 1 ? undo(c, 0) : failed(c, "eventfd2: wrong result", 0);
}

BENCH("eventfd2", IPC, IPC, 3, "eventfd2, which makes a counter to wait for",
      .source = "eventfd(2)", .max_batch = WARM_SLOTS, .variants = VARIANTS({ "counter" }),
      .check = check, .op = op, .undo = undo);
