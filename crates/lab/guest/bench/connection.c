// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a connection from its client's socket to the close of both ends: socket, connect,
 * accept4, close, close. One task has both ends, so the work of both is measured. TCP connections
 * end normally, and the client's port stays in TIME_WAIT. Nothing to undo.
 */
#include "../sockets.h"

SETUP(setup, set_up_listener(c, c->variant->arg));

static long op(struct cell *c, unsigned int i)
{
	long client = new_socket(c->variant->arg), server, ret;

	if (client < 0)
		return client;
	ret = connect_slot(c, client, 0);
	server = SYS(accept4, c->fd[LISTENER], NULL, NULL, SOCK_CLOEXEC);
	sys_close(client);
	if (server >= 0)
		sys_close(server);
	return ret < 0 ? ret : server;
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	/* Nobody listens there, and no other connection waits. */
	ret = new_socket(c->variant->arg);
	if (ret < 0)
		return ret;
	c->fd[CLIENT] = ret;
	ret = connect_slot(c, c->fd[CLIENT], 1);
	close_as(c, CLIENT);
	if (ret != -ECONNREFUSED && ret != -ENOENT)
		return failed(c, "connect: wrong result", ret);
	ret = SYS(fcntl, c->fd[LISTENER], F_SETFL, O_RDWR | SOCK_NONBLOCK);
	if (ret < 0)
		return ret;
	ret = SYS(accept4, c->fd[LISTENER], NULL, NULL, 0);
	return ret == -EAGAIN ? 0 : failed(c, "accept4: wrong result", ret);
}

BENCH("connection", SOCKET, NETWORK, 7,
      "setup and teardown of a connection by a task that has both ends",
      .source = "LMbench lat_connect", .syscalls = "socket connect accept4 close close",
      .max_batch = MAX_FD_SLOTS,
      .variants = VARIANTS({ "unix", .arg = UNIX_STREAM },
			   { "tcp", .arg = TCP },
			   { "tcp6", .arg = TCP6 }),
      .setup = setup, .check = check, .op = op, .teardown = close_all);
