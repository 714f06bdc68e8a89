// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: accept4 of a waiting connection, which prepare() makes with connect. Undo: close of
 * both ends, for TCP with a reset.
 */
#include "../sockets.h"

SETUP(setup, set_up_listener(c, c->variant->arg));

static int prepare(struct cell *c, unsigned int i)
{
	long fd = new_socket(c->variant->arg);

	if (fd < 0)
		return fd;
	*slot_fd(c, i) = fd;
	return connect_slot(c, fd, 0);
}

static long op(struct cell *c, unsigned int i)
{
	long fd = SYS(accept4, c->fd[LISTENER], NULL, NULL, SOCK_CLOEXEC);

	*slot_fd2(c, i) = fd;
	return fd;
}

static int undo(struct cell *c, unsigned int i)
{
	close_at_once(*slot_fd(c, i));
	return sys_close(*slot_fd2(c, i));
}

static int check(struct cell *c)
{
	long ret = prepare(c, 0);
	char got = 0;

	if (ret >= 0)
		ret = op(c, 0);
	if (ret >= 0)
		ret = sys_write(*slot_fd(c, 0), "x", 1);
	if (ret >= 0)
		ret = sys_read(*slot_fd2(c, 0), &got, 1);
	return wrong_if(c, ret, got != 'x', "accept4: wrong result") ?: undo(c, 0);
}

BENCH("accept4", SOCKET, NETWORK, 6, "accept4 of a waiting connection",
      .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "unix-stream", .arg = UNIX_STREAM },
			   { "unix-seqpacket", .arg = UNIX_SEQPACKET },
			   { "tcp", .arg = TCP },
			   { "tcp6", .arg = TCP6 },
			   { "sctp", .arg = SCTP, .modules = "sctp" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = close_all);
