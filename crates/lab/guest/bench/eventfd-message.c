// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: a write to an eventfd and the read that takes its count. Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	long fd = SYS(eventfd2, 0, O_CLOEXEC);

	if (fd == -ENOSYS)
		return unsupported(c, "this kernel has no eventfd", fd);
	if (fd < 0)
		return fd;
	c->fd[0] = fd;
	*(u64 *)slot_data(c) = 3;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = sys_write(c->fd[0], slot_data(c), sizeof(u64));

	return ret < 0 ? ret : sys_read(c->fd[0], slot_data(c), sizeof(u64));
}

static int check(struct cell *c)
{
	u64 one = 1;
	long ret = sys_write(c->fd[0], &one, sizeof(one));

	if (ret >= 0)
		ret = op(c, 0);
	if (ret < 0)
		return ret;
	return *(u64 *)slot_data(c) == 4 ? 0 : failed(c, "read: wrong result", 0);
}

BENCH("eventfd-message", MESSAGE, IPC, 4,
      "a write to an eventfd, and the read that takes its count",
      .source = "eventfd(2)", .syscalls = "write read", .variants = VARIANTS({ "count" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
