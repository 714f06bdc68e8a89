// SPDX-License-Identifier: GPL-2.0-or-later
#include "../sockets.h"

static int socket_setup(struct cell *c)
{
	long fd = new_socket(c->variant->arg);

	if (fd < 0)
		return no_socket(c, fd);
	sys_close(fd);
	return 0;
}

static long socket_op(struct cell *c, unsigned int i)
{
	long fd = new_socket(c->variant->arg);

	*slot_fd(c, i) = fd;
	return fd;
}

static int socket_check(struct cell *c)
{
	int type = 0, size = sizeof(type);
	long fd = socket_op(c, 0);

	if (fd < 0)
		return fd;
	fd = SYS(getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size);
	return wrong_if(c, fd, type != socket_kinds[c->variant->arg].type, "socket: wrong result") ?:
	       slot_close(c, 0);
}

BENCH("socket", SOCKET, NETWORK, 1, "socket of a kind",
      .max_batch = MAX_FD_SLOTS,
      .variants = VARIANTS({ "unix-stream", .arg = UNIX_STREAM },
			   { "unix-dgram", .arg = UNIX_DGRAM },
			   { "unix-seqpacket", .arg = UNIX_SEQPACKET },
			   { "tcp", .arg = TCP },
			   { "udp", .arg = UDP },
			   { "tcp6", .arg = TCP6 },
			   { "udp6", .arg = UDP6 },
			   { "sctp", .arg = SCTP, .modules = "sctp" },
			   { "raw", .arg = RAW },
			   { "packet", .arg = PACKET },
			   { "netlink-route", .arg = ROUTE },
			   { "netlink-audit", .arg = AUDIT }),
      .setup = socket_setup, .check = socket_check, .op = socket_op, .undo = slot_close);

SETUP(socketpair_setup, sockets_start(c, c->variant->arg));

/* Measured: socketpair. Undo: close of both sockets. A slot's two descriptors are adjacent. */
static long socketpair_op(struct cell *c, unsigned int i)
{
	return SYS(socketpair, AF_UNIX, socket_kinds[c->variant->arg].type | SOCK_CLOEXEC, 0,
		   slot_fd(c, 2 * i));
}

static int socketpair_check(struct cell *c)
{
	long ret = socketpair_op(c, 0);
	char got = 0;

	if (ret < 0)
		return ret;
	ret = sys_write(*slot_fd(c, 0), "x", 1);
	if (ret == 1)
		ret = sys_read(*slot_fd(c, 1), &got, 1);
	return wrong_if(c, ret, got != 'x', "socketpair: wrong result") ?: slot_close_two(c, 0);
}

BENCH("socketpair", SOCKET, NETWORK, 2, "socketpair of unix sockets",
      .max_batch = MAX_FD_SLOTS,
      .variants = VARIANTS({ "stream", .arg = UNIX_STREAM },
			   { "dgram", .arg = UNIX_DGRAM },
			   { "seqpacket", .arg = UNIX_SEQPACKET }),
      .setup = socketpair_setup, .check = socketpair_check, .op = socketpair_op,
      .undo = slot_close_two);
