// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

static long eventfd2_op(struct cell *c, unsigned int i)
{
	long fd = SYS(eventfd2, 1, O_CLOEXEC);

	*slot_fd(c, i) = fd;
	return fd;
}

static int eventfd2_check(struct cell *c)
{
	long ret = eventfd2_op(c, 0);
	u64 count = 0;

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no eventfd", ret);
	if (ret >= 0)
		ret = sys_read(*slot_fd(c, 0), &count, sizeof(count));
	return wrong_if(c, ret, count != 1, "eventfd2: wrong result") ?: slot_close(c, 0);
}

BENCH("eventfd2", IPC, IPC, 3, "eventfd2 of a new counter",
      .source = "eventfd(2)", .max_batch = WARM_SLOTS, .variants = VARIANTS({ "counter" }),
      .check = eventfd2_check, .op = eventfd2_op, .undo = slot_close);

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

static long eventfd_message_op(struct cell *c, unsigned int i)
{
	long ret = sys_write(c->fd[0], slot_data(c), sizeof(u64));

	return ret < 0 ? ret : sys_read(c->fd[0], slot_data(c), sizeof(u64));
}

static int eventfd_message_check(struct cell *c)
{
	u64 one = 1;
	long ret = sys_write(c->fd[0], &one, sizeof(one));

	if (ret >= 0)
		ret = eventfd_message_op(c, 0);
	return wrong_if(c, ret, *(u64 *)slot_data(c) != 4, "read: wrong result");
}

BENCH("eventfd-message", MESSAGE, IPC, 4,
      "a write to an eventfd, and the read that takes its count",
      .source = "eventfd(2)", .syscalls = "write read", .variants = VARIANTS({ "count" }),
      .setup = setup, .check = eventfd_message_check, .op = eventfd_message_op,
      .teardown = close_file);
