// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: mq_open of a queue that is there, and close. Nothing to undo. */
#include "../mq.h"

static long op(struct cell *c, unsigned int i)
{
	long fd = SYS(mq_open, slot_name(c, 0), O_RDWR | O_CLOEXEC, 0, NULL);

	return fd < 0 ? fd : sys_close(fd);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (SYS(mq_open, "lsmeter-none", O_RDWR, 0, NULL) != -ENOENT)
		return failed(c, "mq_open: wrong result", 0);
	return 0;
}

BENCH("mq_open", IPC, IPC, 11, "open and close of a POSIX message queue",
      .source = "mq_open(3)", .syscalls = "mq_open close", .variants = VARIANTS({ "existing" }),
      .setup = open_queue, .check = check, .op = op, .teardown = close_queue);
