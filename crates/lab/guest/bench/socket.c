// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: socket. Undone outside: close. */
#include "../sockets.h"

static int setup(struct cell *c)
{
	long fd = new_socket(c->variant->arg);

	if (fd < 0)
		return no_socket(c, fd);
	sys_close(fd);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long fd = new_socket(c->variant->arg);

	*slot_fd(c, i) = fd;
	return fd;
}

static int undo(struct cell *c, unsigned int i)
{
	return sys_close(*slot_fd(c, i));
}

static int check(struct cell *c)
{
	int type = 0, size = sizeof(type);
	long fd = op(c, 0);

	if (fd < 0)
		return fd;
	fd = SYS(getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size);
	if (fd < 0)
		return fd;
	if (type != socket_kinds[c->variant->arg].type)
		return failed(c, "socket: wrong result", 0);
	return undo(c, 0);
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
      .setup = setup, .check = check, .op = op, .undo = undo);
