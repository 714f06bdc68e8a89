/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A POSIX message queue: c->fd[0], and its name in the first slot. */
#ifndef LSMETER_MQ_H
#define LSMETER_MQ_H

#include <linux/mqueue.h>
#include "slots.h"

#define MESSAGE_MAX	1024

static inline int open_queue(struct cell *c)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = MESSAGE_MAX };
	long fd;

	/* The name is unique per agent, because several may run on this machine. */
	format(slot_name(c, 0), SLOT_SIZE, "lsmeter-%lu", (unsigned long)SYS(getpid));
	fd = SYS(mq_open, slot_name(c, 0), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
	if (fd == -ENOSYS)
		return unsupported(c, "this kernel has no POSIX message queues", fd);
	if (fd < 0)
		return failed(c, "mq_open", fd);
	c->fd[0] = fd;
	return 0;
}

static inline void close_queue(struct cell *c)
{
	close_as(c, 0);
	SYS(mq_unlink, slot_name(c, 0));
}

#endif
