// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "../messages.h"

#define HEADER		20
#define EXPERIMENT	0x88b5	/* IEEE 802: for local experiments */
#define LOOPBACK	1	/* the interface's index, in every network namespace */

/* The socket is connected to its own address, so it receives what it sends. */
static int raw_message_setup(struct cell *c)
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

/*
 * Measured: an IP packet of an unassigned protocol (253, for experiments) from a raw socket to
 * itself over the loopback interface, and its receipt with its header. Nothing to undo.
 */
static long raw_message_op(struct cell *c, unsigned int i)
{
	long ret = send_to(c, CLIENT, c->variant->arg2);

	if (ret < 0)
		return ret;
	return SYS(recvfrom, c->fd[CLIENT], slot_data(c), DATA_SIZE, 0, NULL, NULL);
}

static int raw_message_check(struct cell *c)
{
	long ret;

	fill_message(c);
	ret = raw_message_op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != HEADER + c->variant->arg2 ||
	    memcmp(slot_data(c) + HEADER, c->buffer, c->variant->arg2))
		return failed(c, "recvfrom: wrong result", 0);
	return 0;
}

BENCH("raw-message", MESSAGE, NETWORK, 19,
      "a packet from a raw socket to itself over the loopback interface",
      .source = "raw(7)", .syscalls = "sendto recvfrom",
      .variants = VARIANTS({ "1B", .arg2 = 1 }, { "1KB", .arg2 = KB }),
      .setup = raw_message_setup, .check = raw_message_check, .op = raw_message_op,
      .teardown = close_all);

static int packet_message_setup(struct cell *c)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = big_endian(EXPERIMENT),
		.sll_ifindex = LOOPBACK,
	};
	int ret = sockets_start(c, PACKET);
	long fd;

	if (ret)
		return ret;
	fd = new_socket(PACKET);
	if (fd < 0)
		return failed(c, "socket", fd);
	c->fd[CLIENT] = fd;
	fd = SYS(bind, fd, &at, sizeof(at));
	if (fd < 0) {
		close_all(c);
		return failed(c, "bind", fd);
	}
	return 0;
}

/*
 * Measured: a frame of a packet socket that returns over the loopback interface (with an Ethernet
 * type for experiments, which no protocol uses), and its receipt. Nothing to undo.
 */
static long packet_message_op(struct cell *c, unsigned int i)
{
	long ret = send_to(c, CLIENT, ETH_HLEN + c->variant->arg2);

	if (ret < 0)
		return ret;
	return SYS(recvfrom, c->fd[CLIENT], slot_data(c), DATA_SIZE, 0, NULL, NULL);
}

static int packet_message_check(struct cell *c)
{
	struct ethhdr *head = (struct ethhdr *)c->buffer;
	long size = ETH_HLEN + c->variant->arg2, ret;

	head->h_proto = big_endian(EXPERIMENT);
	c->buffer[ETH_HLEN] = 'x';
	ret = packet_message_op(c, 0);
	return wrong_if(c, ret, ret != size || memcmp(slot_data(c), c->buffer, size),
			"recvfrom: wrong result");
}

BENCH("packet-message", MESSAGE, NETWORK, 20,
      "a frame from a packet socket to itself over the loopback interface",
      .source = "packet(7)", .syscalls = "sendto recvfrom",
      .variants = VARIANTS({ "1B", .arg2 = 1 }, { "1KB", .arg2 = KB }),
      .setup = packet_message_setup, .check = packet_message_check, .op = packet_message_op,
      .teardown = close_all);
