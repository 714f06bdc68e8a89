// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: a message into a POSIX queue, and out of it. Nothing to undo. */
#include "../mq.h"

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(mq_timedsend, c->fd[0], slot_data(c), c->variant->arg, 0, NULL);

	if (ret < 0)
		return ret;
	return SYS(mq_timedreceive, c->fd[0], slot_data(c), MESSAGE_MAX, NULL, NULL);
}

static int check(struct cell *c)
{
	char *last = slot_data(c) + c->variant->arg - 1;
	long ret;

	*last = 'x';
	ret = SYS(mq_timedsend, c->fd[0], slot_data(c), c->variant->arg, 0, NULL);
	*last = 'y';
	if (ret >= 0)
		ret = op(c, 0);
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
      .setup = open_queue, .check = check, .op = op, .teardown = close_queue);
