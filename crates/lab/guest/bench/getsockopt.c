// SPDX-License-Identifier: GPL-2.0-or-later
#include "../sockets.h"

#define LABEL_SIZE	1024

SETUP(set_up_kind, set_up_pair(c, c->variant->arg));

static long getsockname_op(struct cell *c, unsigned int i)
{
	int size = sizeof(struct sockaddr_un);

	return SYS(getsockname, c->fd[CLIENT], slot_data(c), &size);
}

static int getsockname_check(struct cell *c)
{
	long ret = getsockname_op(c, 0);

	return wrong_if(c, ret, memcmp(slot_data(c), slot_address(c, 1), c->state[ADDRESS_SIZE]),
			"getsockname: wrong result");
}

BENCH("getsockname", SOCKET, NETWORK, 11, "the address of the socket itself",
      .variants = VARIANTS({ "unix", .arg = UNIX_STREAM },
			   { "tcp", .arg = TCP },
			   { "tcp6", .arg = TCP6 }),
      .setup = set_up_kind, .check = getsockname_check, .op = getsockname_op,
      .teardown = tear_down_pair);

static long getpeername_op(struct cell *c, unsigned int i)
{
	int size = sizeof(struct sockaddr_un);

	return SYS(getpeername, c->fd[CLIENT], slot_data(c), &size);
}

static int getpeername_check(struct cell *c)
{
	long ret = getpeername_op(c, 0);

	return wrong_if(c, ret, memcmp(slot_data(c), slot_address(c, 0), c->state[ADDRESS_SIZE]),
			"getpeername: wrong result");
}

BENCH("getpeername", SOCKET, NETWORK, 12, "the address of the socket at the other end",
      .variants = VARIANTS({ "unix", .arg = UNIX_STREAM },
			   { "tcp", .arg = TCP },
			   { "tcp6", .arg = TCP6 }),
      .setup = set_up_kind, .check = getpeername_check, .op = getpeername_op,
      .teardown = tear_down_pair);

/*
 * Measured: getsockopt of a connected socket. SO_PEERSEC calls security modules for the peer's
 * label; if there is no label, it returns ENOPROTOOPT. Nothing to undo.
 */
static long getsockopt_op(struct cell *c, unsigned int i)
{
	int size = LABEL_SIZE;
	long ret = SYS(getsockopt, c->fd[CLIENT], SOL_SOCKET, c->variant->arg2, slot_data(c), &size);

	return ret == -ENOPROTOOPT ? 0 : ret;
}

static int getsockopt_check(struct cell *c)
{
	int *value = (int *)slot_data(c);
	long ret = getsockopt_op(c, 0);

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
      .setup = set_up_kind, .check = getsockopt_check, .op = getsockopt_op,
      .teardown = tear_down_pair);

SETUP(setsockopt_setup, set_up_pair(c, TCP));

static long setsockopt_op(struct cell *c, unsigned int i)
{
	int on = 1;

	return SYS(setsockopt, c->fd[CLIENT], c->variant->arg, c->variant->arg2, &on, sizeof(on));
}

/* Whether the option is on; or -errno. */
static long is_on(struct cell *c)
{
	int on = -1, size = sizeof(on);
	long ret = SYS(getsockopt, c->fd[CLIENT], c->variant->arg, c->variant->arg2, &on, &size);

	return ret < 0 ? ret : !!on;
}

static int setsockopt_check(struct cell *c)
{
	long ret = set_option(c->fd[CLIENT], c->variant->arg, c->variant->arg2, 0);

	if (ret < 0 || is_on(c) != 0)
		return failed(c, "setsockopt: wrong result", ret);
	ret = setsockopt_op(c, 0);
	return wrong_if(c, ret, is_on(c) != 1, "setsockopt: wrong result");
}

BENCH("setsockopt", SOCKET, NETWORK, 10, "setsockopt of a connected socket",
      .source = "socket(7), tcp(7)",
      .variants = VARIANTS({ "SO_BROADCAST", .arg = SOL_SOCKET, .arg2 = SO_BROADCAST },
			   { "TCP_NODELAY", .arg = IPPROTO_TCP, .arg2 = TCP_NODELAY }),
      .setup = setsockopt_setup, .check = setsockopt_check, .op = setsockopt_op,
      .teardown = tear_down_pair);
