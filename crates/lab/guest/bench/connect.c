// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: connect of a new socket to a listening one, or to an address for datagrams. For TCP
 * this includes all three segments of the handshake, because on the loopback interface the task
 * itself delivers them. `tcp-refused`: to a port without a listener, which returns ECONNREFUSED.
 * Undo: accept if possible, close; TCP connections are reset, so that none stays in TIME_WAIT.
 */
#include "../sockets.h"

#define LISTENS		0	/* the slot with that address */
#define REFUSED		1	/* the slot without a listener; arg2 of variants */

SETUP(setup, set_up_listener(c, c->variant->arg));

static int prepare(struct cell *c, unsigned int i)
{
	long fd = new_socket(c->variant->arg);

	*slot_fd(c, i) = fd;
	return fd;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = connect_slot(c, *slot_fd(c, i), c->variant->arg2);

	return c->variant->arg2 == REFUSED && ret == -ECONNREFUSED ? 0 : ret;
}

static int undo(struct cell *c, unsigned int i)
{
	long fd = 0;

	if (is_stream(c->variant->arg) && c->variant->arg2 == LISTENS)
		fd = SYS(accept4, c->fd[LISTENER], NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return fd;
	close_at_once(*slot_fd(c, i));
	return fd ? sys_close(fd) : 0;
}

static int check(struct cell *c)
{
	struct sockaddr_un name;
	int size = sizeof(name);
	long ret = prepare(c, 0);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret >= 0 && c->variant->arg2 == REFUSED) {
		if (SYS(getpeername, *slot_fd(c, 0), &name, &size) != -ENOTCONN)
			return failed(c, "connect: somebody listens there", 0);
		return undo(c, 0);
	}
	if (ret >= 0)
		ret = SYS(getpeername, *slot_fd(c, 0), &name, &size);
	if (ret < 0)
		return ret;
	if (size < c->state[ADDRESS_SIZE] ||
	    memcmp(&name, slot_address(c, 0), c->state[ADDRESS_SIZE]))
		return failed(c, "connect: wrong result", 0);
	return undo(c, 0);
}

BENCH("connect", SOCKET, NETWORK, 5, "connect to a socket of the same task",
      .source = "LMbench lat_connect; connect(2)", .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "unix-stream", .arg = UNIX_STREAM },
			   { "unix-dgram", .arg = UNIX_DGRAM },
			   { "unix-seqpacket", .arg = UNIX_SEQPACKET },
			   { "tcp", .arg = TCP },
			   { "udp", .arg = UDP },
			   { "tcp6", .arg = TCP6 },
			   { "udp6", .arg = UDP6 },
			   { "sctp", .arg = SCTP, .modules = "sctp" },
			   { "tcp-refused", .arg = TCP, .arg2 = REFUSED }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = close_all);
