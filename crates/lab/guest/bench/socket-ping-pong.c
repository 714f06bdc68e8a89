// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: a byte into a socket, its receipt by a child, and the same back: write and read of both
 * tasks, and two switches. Nothing to undo.
 */
#include "../sockets.h"
#include "../ping-pong.h"

static int setup(struct cell *c)
{
	int ret = set_up_pair(c, c->variant->arg);

	if (ret)
		return ret;
	ret = start_partner(c, c->fd[SERVER], c->fd[SERVER]);
	if (ret)
		tear_down_pair(c);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	return there_and_back(c, c->fd[CLIENT], c->fd[CLIENT]);
}

static int check(struct cell *c)
{
	return check_there_and_back(c, c->fd[CLIENT], c->fd[CLIENT]);
}

static void teardown(struct cell *c)
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
      .setup = setup, .check = check, .op = op, .teardown = teardown);
