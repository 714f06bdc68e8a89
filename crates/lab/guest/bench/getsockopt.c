// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: getsockopt of a connected socket. SO_PEERSEC asks security modules who the other
 * end is, and where none knows, ENOPROTOOPT is the answer. Nothing to undo.
 */
#include "../sockets.h"

#define LABEL_SIZE	1024

static int setup(struct cell *c)
{
	return set_up_pair(c, c->variant->arg);
}

static long op(struct cell *c, unsigned int i)
{
	int size = LABEL_SIZE;
	long ret = SYS(getsockopt, c->fd[CLIENT], SOL_SOCKET, c->variant->arg2, slot_data(c), &size);

	return ret == -ENOPROTOOPT ? 0 : ret;
}

static int check(struct cell *c)
{
	int *value = (int *)slot_data(c);
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (c->variant->arg2 == SO_TYPE && *value != SOCK_STREAM)
		return failed(c, "getsockopt: wrong type", 0);
	if (c->variant->arg2 == SO_PEERCRED && *value != SYS(getpid))
		return failed(c, "getsockopt: wrong process", 0);
	return 0;
}

BENCH("getsockopt", SOCKET, NETWORK, 9, "getsockopt of a connected socket",
      .source = "socket(7)",
      .variants = VARIANTS({ "SO_TYPE", .arg = UNIX_STREAM, .arg2 = SO_TYPE },
			   { "SO_PEERCRED", .arg = UNIX_STREAM, .arg2 = SO_PEERCRED },
			   { "SO_PEERSEC", .arg = UNIX_STREAM, .arg2 = SO_PEERSEC },
			   { "tcp-SO_PEERSEC", .arg = TCP, .arg2 = SO_PEERSEC }),
      .setup = setup, .check = check, .op = op, .teardown = tear_down_pair);
