// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: inotify_add_watch of an unwatched file; each operation of a batch has its own. Undo:
 * inotify_rm_watch, and read of the resulting event, so that the queue never fills.
 */
#include <linux/inotify.h>
#include "slots.h"

#define EVENTS_SIZE	4096

static int setup(struct cell *c)
{
	long ret = slots_name(c, "AA/");

	if (ret < 0)
		return ret;
	ret = slots_make_files(c, 0);
	if (ret < 0)
		return ret;
	ret = SYS(inotify_init1, IN_NONBLOCK | IN_CLOEXEC);
	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no inotify", ret);
	if (ret < 0)
		return ret;
	c->fd[0] = ret;
	return 0;
}

/* The descriptors' slots hold watch descriptors. */
static long op(struct cell *c, unsigned int i)
{
	long watch = SYS(inotify_add_watch, c->fd[0], slot_name(c, i), IN_MODIFY);

	*slot_fd(c, i) = watch;
	return watch;
}

static int undo(struct cell *c, unsigned int i)
{
	long ret = SYS(inotify_rm_watch, c->fd[0], *slot_fd(c, i));

	if (ret < 0)
		return ret;
	ret = sys_read(c->fd[0], slot_data(c), EVENTS_SIZE);
	return ret == -EAGAIN ? 0 : ret;
}

static int check(struct cell *c)
{
	struct inotify_event *event = (struct inotify_event *)slot_data(c);
	long fd, ret;

	ret = op(c, 0);
	if (ret == -ENOSPC)
		return unsupported(c, "no watch left: fs.inotify.max_user_watches", ret);
	if (ret < 0)
		return ret;
	fd = sys_open(slot_name(c, 0), O_WRONLY, 0);
	if (fd < 0)
		return fd;
	ret = sys_write(fd, "x", 1);
	sys_close(fd);
	if (ret < 0)
		return ret;
	ret = sys_read(c->fd[0], event, EVENTS_SIZE);
	if (ret < 0)
		return ret;
	if (ret < (long)sizeof(*event) || event->wd != *slot_fd(c, 0) ||
	    !(event->mask & IN_MODIFY))
		return failed(c, "inotify_add_watch: wrong result", 0);
	return undo(c, 0);
}

BENCH("inotify_add_watch", EVENT, BEYOND, 29, "inotify_add_watch of a file",
      .source = "paper section 4.1, class 8; inotify_add_watch(2)", .max_batch = WARM_SLOTS,
      /* Each notification reads the super block's s_fsnotify_info. */
      .variants = VARIANTS({ "IN_MODIFY" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = close_file);
