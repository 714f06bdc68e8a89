// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: epoll_ctl that adds an eventfd, epoll_pwait that finds it ready, epoll_ctl that removes
 * it. Nothing to undo.
 */
#include <linux/eventpoll.h>
#include "slots.h"

#define POLL	0	/* c->fd[] */
#define READY	1
#define DATA	7

static int setup(struct cell *c)
{
	struct epoll_event *event = (struct epoll_event *)slot_name(c, 0);
	long fd = SYS(epoll_create1, O_CLOEXEC);

	if (fd == -ENOSYS)
		return unsupported(c, "this kernel has no epoll", fd);
	if (fd < 0)
		return failed(c, "epoll_create1", fd);
	c->fd[POLL] = fd;
	fd = SYS(eventfd2, 1, O_CLOEXEC);
	if (fd < 0) {
		close_as(c, POLL);
		return fd == -ENOSYS ? unsupported(c, "this kernel has no eventfd", fd) : (int)fd;
	}
	c->fd[READY] = fd;
	event->events = EPOLLIN;
	event->data = DATA;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(epoll_ctl, c->fd[POLL], EPOLL_CTL_ADD, c->fd[READY], slot_name(c, 0));

	if (ret < 0)
		return ret;
	ret = SYS(epoll_pwait, c->fd[POLL], slot_data(c), 2, 0, NULL, 0);
	if (ret < 0)
		return ret;
	return SYS(epoll_ctl, c->fd[POLL], EPOLL_CTL_DEL, c->fd[READY], NULL);
}

static int check(struct cell *c)
{
	struct epoll_event *event = (struct epoll_event *)slot_data(c);
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (event->events != EPOLLIN || event->data != DATA ||
	    SYS(epoll_pwait, c->fd[POLL], slot_data(c), 2, 0, NULL, 0) != 0)
		return failed(c, "epoll_pwait: wrong result", 0);
	return 0;
}

static void teardown(struct cell *c)
{
	close_as(c, READY);
	close_as(c, POLL);
}

BENCH("epoll", EVENT, IPC, 20, "a descriptor watched, found ready, and no longer watched",
      .source = "epoll(7)", .syscalls = "epoll_ctl epoll_pwait epoll_ctl",
      .variants = VARIANTS({ "eventfd" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
