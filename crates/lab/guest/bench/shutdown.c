// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: shutdown(SHUT_WR) of a connection's client; for TCP it sends a FIN. prepare() makes the
 * connection. Undo: close of both ends, for TCP with a reset.
 */
#include "../sockets.h"

SETUP(setup, set_up_listener(c, c->variant->arg));

static int prepare(struct cell *c, unsigned int i)
{
	long fd = new_socket(c->variant->arg), ret;

	if (fd < 0)
		return fd;
	*slot_fd(c, i) = fd;
	ret = connect_slot(c, fd, 0);
	if (ret < 0)
		return ret;
	fd = SYS(accept4, c->fd[LISTENER], NULL, NULL, SOCK_CLOEXEC);
	*slot_fd2(c, i) = fd;
	return fd;
}

OP(op, SYS(shutdown, *slot_fd(c, i), SHUT_WR));

static int undo(struct cell *c, unsigned int i)
{
	close_at_once(*slot_fd(c, i));
	return close_at_once(*slot_fd2(c, i));
}

static int check(struct cell *c)
{
	long ret = prepare(c, 0);
	char got;

	if (ret >= 0)
		ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (sys_read(*slot_fd2(c, 0), &got, 1) != 0 ||
	    SYS(sendto, *slot_fd(c, 0), "x", 1, MSG_NOSIGNAL, NULL, 0) != -EPIPE)
		return failed(c, "shutdown: wrong result", 0);
	return undo(c, 0);
}

BENCH("shutdown", SOCKET, NETWORK, 8, "shutdown of one direction of a connection",
      .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "unix-stream", .arg = UNIX_STREAM },
			   { "tcp", .arg = TCP },
			   { "tcp6", .arg = TCP6 }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = close_all);
