// SPDX-License-Identifier: GPL-2.0-or-later
#include "../ping-pong.h"
#include "../sockets.h"

#define TO_CHILD	0	/* c->fd[]: read end of each pipe, then its write end */
#define FROM_CHILD	2

static void close_pipes(struct cell *c)
{
	unsigned int n;

	for (n = 0; n < 4; n++)
		close_as(c, n);
}

static int pipe_ping_pong_setup(struct cell *c)
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

/*
 * Measured: a byte through a pipe to a child and back: write and read of both tasks, and two
 * context switches. Nothing to undo.
 */
OP(pipe_ping_pong_op, there_and_back(c, c->fd[TO_CHILD + 1], c->fd[FROM_CHILD]));

SETUP(pipe_ping_pong_check, check_there_and_back(c, c->fd[TO_CHILD + 1], c->fd[FROM_CHILD]));

static void pipe_ping_pong_teardown(struct cell *c)
{
	end_child(c);
	close_pipes(c);
}

BENCH("pipe-ping-pong", MESSAGE, IPC, 27,
      "a byte through a pipe to a child, and back through another",
      .source = "LMbench lat_pipe", .syscalls = "write read write read", .counts_children = 1,
      .variants = VARIANTS({ "1B" }),
      .setup = pipe_ping_pong_setup, .check = pipe_ping_pong_check, .op = pipe_ping_pong_op,
      .teardown = pipe_ping_pong_teardown);

static int socket_ping_pong_setup(struct cell *c)
{
	int ret = set_up_pair(c, c->variant->arg);

	if (ret)
		return ret;
	ret = start_partner(c, c->fd[SERVER], c->fd[SERVER]);
	if (ret)
		tear_down_pair(c);
	return ret;
}

/*
 * Measured: a byte through a socket to a child and back: write and read of both tasks, and two
 * context switches. Nothing to undo.
 */
OP(socket_ping_pong_op, there_and_back(c, c->fd[CLIENT], c->fd[CLIENT]));

SETUP(socket_ping_pong_check, check_there_and_back(c, c->fd[CLIENT], c->fd[CLIENT]));

static void socket_ping_pong_teardown(struct cell *c)
{
	end_child(c);
	tear_down_pair(c);
}

BENCH("socket-ping-pong", MESSAGE, NETWORK, 21, "a byte to a child through a connection, and back",
      .source = "LMbench lat_unix, lat_udp, lat_tcp", .syscalls = "write read write read",
      .counts_children = 1,
      .variants = VARIANTS({ "unix", .arg = UNIX_STREAM },
			   { "udp", .arg = UDP },
			   { "tcp", .arg = TCP }),
      .setup = socket_ping_pong_setup, .check = socket_ping_pong_check, .op = socket_ping_pong_op,
      .teardown = socket_ping_pong_teardown);
