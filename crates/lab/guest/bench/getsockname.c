// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: getsockname of a connected socket. Nothing to undo. */
#include "../sockets.h"

static int setup(struct cell *c)
{
	return set_up_pair(c, c->variant->arg);
}

static long op(struct cell *c, unsigned int i)
{
	int size = sizeof(struct sockaddr_un);

	return SYS(getsockname, c->fd[CLIENT], slot_data(c), &size);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (memcmp(slot_data(c), slot_address(c, 1), c->state[ADDRESS_SIZE]))
		return failed(c, "getsockname: wrong result", 0);
	return 0;
}

BENCH("getsockname", SOCKET, NETWORK, 11, "the address of the socket itself",
      .variants = VARIANTS({ "unix", .arg = UNIX_STREAM },
			   { "tcp", .arg = TCP },
			   { "tcp6", .arg = TCP6 }),
      .setup = setup, .check = check, .op = op, .teardown = tear_down_pair);
