// SPDX-License-Identifier: GPL-2.0-or-later
#include "../mq.h"

static long mq_open_op(struct cell *c, unsigned int i)
{
	long fd = SYS(mq_open, slot_name(c, 0), O_RDWR | O_CLOEXEC, 0, NULL);

	return fd < 0 ? fd : sys_close(fd);
}

static int mq_open_check(struct cell *c)
{
	long ret = mq_open_op(c, 0);

	return wrong_if(c, ret, SYS(mq_open, "lsmeter-none", O_RDWR, 0, NULL) != -ENOENT,
			"mq_open: wrong result");
}

BENCH("mq_open", IPC, IPC, 11, "open and close of a POSIX message queue",
      .source = "mq_open(3)", .syscalls = "mq_open close", .variants = VARIANTS({ "existing" }),
      .setup = open_queue, .check = mq_open_check, .op = mq_open_op, .teardown = close_queue);

static long mq_message_op(struct cell *c, unsigned int i)
{
	long ret = SYS(mq_timedsend, c->fd[0], slot_data(c), c->variant->arg, 0, NULL);

	if (ret < 0)
		return ret;
	return SYS(mq_timedreceive, c->fd[0], slot_data(c), MESSAGE_MAX, NULL, NULL);
}

static int mq_message_check(struct cell *c)
{
	char *last = slot_data(c) + c->variant->arg - 1;
	long ret;

	*last = 'x';
	ret = SYS(mq_timedsend, c->fd[0], slot_data(c), c->variant->arg, 0, NULL);
	*last = 'y';
	if (ret >= 0)
		ret = mq_message_op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != c->variant->arg || *last != 'x')
		return failed(c, "mq_timedreceive: wrong result", 0);
	ret = SYS(mq_timedreceive, c->fd[0], slot_data(c), MESSAGE_MAX, NULL, NULL);
	return ret < 0 ? ret : 0;
}

BENCH("mq-message", MESSAGE, IPC, 12, "a message into a POSIX message queue, and out of it",
      .source = "mq_overview(7)", .syscalls = "mq_timedsend mq_timedreceive",
      .variants = VARIANTS({ "1B", .arg = 1 }, { "1KB", .arg = MESSAGE_MAX }),
      .setup = open_queue, .check = mq_message_check, .op = mq_message_op, .teardown = close_queue);
