// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: listen of a bound socket. Undo: close. */
#include "../sockets.h"

static int setup(struct cell *c)
{
	int ret = sockets_start(c, c->variant->arg);

	if (!ret)
		address_slots(c, c->variant->arg);
	return ret;
}

static int prepare(struct cell *c, unsigned int i)
{
	long fd = bound_socket(c, c->variant->arg, i);

	*slot_fd(c, i) = fd;
	return fd;
}

OP(op, SYS(listen, *slot_fd(c, i), BACKLOG));

static int check(struct cell *c)
{
	int listens = 0, size = sizeof(listens);
	long ret = prepare(c, 0);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret >= 0)
		ret = SYS(getsockopt, *slot_fd(c, 0), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
	return wrong_if(c, ret, listens != 1, "listen: wrong result") ?: slot_close(c, 0);
}

BENCH("listen", SOCKET, NETWORK, 4, "listen of a bound socket",
      .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "unix-stream", .arg = UNIX_STREAM },
			   { "unix-seqpacket", .arg = UNIX_SEQPACKET },
			   { "tcp", .arg = TCP },
			   { "tcp6", .arg = TCP6 }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = slot_close);
