// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: a byte into a pipe, its receipt by a child, and the same back: write and read of both
 * tasks, and two switches. Nothing to undo.
 */
#include "../ping-pong.h"

#define TO_CHILD	0	/* c->fd[]: of each pipe the end that is read, and the other */
#define FROM_CHILD	2

static void close_pipes(struct cell *c)
{
	unsigned int n;

	for (n = 0; n < 4; n++)
		close_as(c, n);
}

static int setup(struct cell *c)
{
	int ret = SYS(pipe2, c->fd + TO_CHILD, O_CLOEXEC);

	if (!ret)
		ret = SYS(pipe2, c->fd + FROM_CHILD, O_CLOEXEC);
	if (!ret)
		ret = start_partner(c, c->fd[TO_CHILD], c->fd[FROM_CHILD + 1]);
	if (ret)
		close_pipes(c);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	return there_and_back(c, c->fd[TO_CHILD + 1], c->fd[FROM_CHILD]);
}

static int check(struct cell *c)
{
	return check_there_and_back(c, c->fd[TO_CHILD + 1], c->fd[FROM_CHILD]);
}

static void teardown(struct cell *c)
{
	end_child(c);
	close_pipes(c);
}

BENCH("pipe-ping-pong", MESSAGE, IPC, 27,
      "a byte through a pipe to a child, and through another back",
      .source = "LMbench lat_pipe", .syscalls = "write read write read", .counts_children = 1,
      .variants = VARIANTS({ "1B" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
