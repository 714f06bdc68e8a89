// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: an IP packet of a protocol that nobody speaks (253, for experiments) from one raw
 * socket to itself over the loopback interface, and its receipt with its header. Nothing to
 * undo.
 */
#include "../messages.h"

#define HEADER		20

/* The socket is connected to the address that it receives at: it hears itself. */
static int setup(struct cell *c)
{
	int ret = sockets_start(c, RAW);
	long fd;

	if (ret)
		return ret;
	address_slots(c, RAW);
	fd = new_socket(RAW);
	if (fd < 0)
		return failed(c, "socket", fd);
	c->fd[CLIENT] = fd;
	fd = connect_slot(c, fd, 0);
	if (fd < 0) {
		close_all(c);
		return failed(c, "connect", fd);
	}
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = send_to(c, CLIENT, c->variant->arg2);

	if (ret < 0)
		return ret;
	return SYS(recvfrom, c->fd[CLIENT], slot_data(c), DATA_SIZE, 0, NULL, NULL);
}

static int check(struct cell *c)
{
	long ret;

	fill_message(c);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != HEADER + c->variant->arg2 ||
	    memcmp(slot_data(c) + HEADER, c->buffer, c->variant->arg2))
		return failed(c, "recvfrom: wrong result", 0);
	return 0;
}

BENCH("raw-message", MESSAGE, NETWORK, 19,
      "a packet of a raw socket over the loopback interface, received by the same",
      .source = "raw(7)", .syscalls = "sendto recvfrom",
      .variants = VARIANTS({ "1B", .arg2 = 1 }, { "1KB", .arg2 = KB }),
      .setup = setup, .check = check, .op = op, .teardown = close_all);
