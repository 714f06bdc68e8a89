// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: a frame of a packet socket that the loopback interface brings back to it (of an
 * Ethernet type for experiments, which no protocol takes), and its receipt. Nothing to undo.
 */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "../messages.h"

#define EXPERIMENT	0x88b5	/* IEEE 802: for local experiments */
#define LOOPBACK	1	/* the interface's index, in every network namespace */

static int setup(struct cell *c)
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

static long op(struct cell *c, unsigned int i)
{
	long ret = send_to(c, CLIENT, ETH_HLEN + c->variant->arg2);

	if (ret < 0)
		return ret;
	return SYS(recvfrom, c->fd[CLIENT], slot_data(c), DATA_SIZE, 0, NULL, NULL);
}

static int check(struct cell *c)
{
	struct ethhdr *head = (struct ethhdr *)c->buffer;
	long size = ETH_HLEN + c->variant->arg2, ret;

	head->h_proto = big_endian(EXPERIMENT);
	c->buffer[ETH_HLEN] = 'x';
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != size || memcmp(slot_data(c), c->buffer, size))
		return failed(c, "recvfrom: wrong result", 0);
	return 0;
}

BENCH("packet-message", MESSAGE, NETWORK, 20,
      "a frame of a packet socket over the loopback interface, received by the same",
      .source = "packet(7)", .syscalls = "sendto recvfrom",
      .variants = VARIANTS({ "1B", .arg2 = 1 }, { "1KB", .arg2 = KB }),
      .setup = setup, .check = check, .op = op, .teardown = close_all);
