// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: flock(LOCK_EX) of a file that is not locked, and flock(LOCK_UN). Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	int ret = make_file("file", 0);

	if (ret < 0)
		return ret;
	ret = open_as(c, 0, "file", O_RDWR);
	if (ret < 0)
		return ret;
	ret = open_as(c, 1, "file", O_RDWR);
	if (ret < 0)
		close_as(c, 0);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(flock, c->fd[0], LOCK_EX);

	if (ret < 0)
		return ret;
	return SYS(flock, c->fd[0], LOCK_UN);
}

/* The second descriptor must find the lock only while it is held. */
static int check(struct cell *c)
{
	long ret = SYS(flock, c->fd[0], LOCK_EX);

	if (is_missing(ret))
		return unsupported(c, "no flock on this file system", ret);
	if (ret < 0)
		return ret;
	if (SYS(flock, c->fd[1], LOCK_EX | LOCK_NB) != -EAGAIN)
		return failed(c, "flock: wrong result", 0);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	ret = SYS(flock, c->fd[1], LOCK_EX | LOCK_NB);
	if (ret < 0)
		return ret;
	return SYS(flock, c->fd[1], LOCK_UN);
}

static void teardown(struct cell *c)
{
	close_as(c, 1);
	close_as(c, 0);
}

BENCH("flock", DESCRIPTOR, BEYOND, 28, "flock of a file, exclusively, and its release",
      .syscalls = "flock flock", .variants = VARIANTS({ "LOCK_EX" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
