// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: bind of a new socket to a name in the file system, or to a port of the loopback
 * interface; for SCTP also with the socket option for several addresses, of which one is given
 * here. Undo: close, and unlink of the name.
 */
#include "../sockets.h"

#define BINDX_ADD	100	/* SCTP_SOCKOPT_BINDX_ADD; its header needs a C library */

static int setup(struct cell *c)
{
	int ret = sockets_start(c, c->variant->arg);

	if (!ret)
		address_slots(c, c->variant->arg);
	return ret;
}

static int prepare(struct cell *c, unsigned int i)
{
	long fd = new_socket(c->variant->arg);

	*slot_fd(c, i) = fd;
	return fd;
}

static long op(struct cell *c, unsigned int i)
{
	if (c->variant->arg2)
		return SYS(setsockopt, *slot_fd(c, i), IPPROTO_SCTP, c->variant->arg2,
			   slot_address(c, i), c->state[ADDRESS_SIZE]);
	return bind_slot(c, *slot_fd(c, i), i);
}

static int undo(struct cell *c, unsigned int i)
{
	if (family_of(c->variant->arg) == AF_UNIX)
		sys_unlink(((struct sockaddr_un *)slot_address(c, i))->sun_path);
	return sys_close(*slot_fd(c, i));
}

static int check(struct cell *c)
{
	struct sockaddr_un name;
	int size = sizeof(name);
	long ret = prepare(c, 0);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret >= 0)
		ret = SYS(getsockname, *slot_fd(c, 0), &name, &size);
	if (ret < 0)
		return ret;
	if (size < c->state[ADDRESS_SIZE] ||
	    memcmp(&name, slot_address(c, 0), c->state[ADDRESS_SIZE]))
		return failed(c, "bind: wrong result", 0);
	return undo(c, 0);
}

BENCH("bind", SOCKET, NETWORK, 3, "bind of a socket to an unused address",
      .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "unix", .arg = UNIX_STREAM },
			   { "tcp", .arg = TCP },
			   { "udp", .arg = UDP },
			   { "tcp6", .arg = TCP6 },
			   { "udp6", .arg = UDP6 },
			   { "sctp", .arg = SCTP, .modules = "sctp" },
			   { "sctp-bindx", .arg = SCTP, .arg2 = BINDX_ADD, .modules = "sctp",
			     .syscalls = "setsockopt" },
			   { "mptcp", .arg = MPTCP }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo);
