// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: socketpair. Undone outside: close of both. */
#include "../sockets.h"

static int setup(struct cell *c)
{
	return sockets_start(c, c->variant->arg);
}

/* A slot's two descriptors lie side by side. */
static long op(struct cell *c, unsigned int i)
{
	return SYS(socketpair, AF_UNIX, socket_kinds[c->variant->arg].type | SOCK_CLOEXEC, 0,
		   slot_fd(c, 2 * i));
}

static int undo(struct cell *c, unsigned int i)
{
	sys_close(*slot_fd(c, 2 * i));
	return sys_close(*slot_fd(c, 2 * i + 1));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);
	char got = 0;

	if (ret < 0)
		return ret;
	ret = sys_write(*slot_fd(c, 0), "x", 1);
	if (ret == 1)
		ret = sys_read(*slot_fd(c, 1), &got, 1);
	if (ret < 0)
		return ret;
	if (got != 'x')
		return failed(c, "socketpair: wrong result", 0);
	return undo(c, 0);
}

BENCH("socketpair", SOCKET, NETWORK, 2, "socketpair of unix sockets",
      .max_batch = MAX_FD_SLOTS,
      .variants = VARIANTS({ "stream", .arg = UNIX_STREAM },
			   { "dgram", .arg = UNIX_DGRAM },
			   { "seqpacket", .arg = UNIX_SEQPACKET }),
      .setup = setup, .check = check, .op = op, .undo = undo);
