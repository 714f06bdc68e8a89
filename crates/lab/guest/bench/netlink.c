// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a netlink request for the loopback interface, and the receipt of its answer, which the
 * kernel makes within the send. Nothing to undo.
 */
#include <linux/rtnetlink.h>
#include "../sockets.h"

#define LOOPBACK	1	/* its index, in every network namespace */
#define ANSWER_MAX	16384

struct question {
	struct nlmsghdr head;
	struct ifinfomsg of;
};

static struct question *question(struct cell *c)
{
	return (struct question *)slot_name(c, 0);
}

static int setup(struct cell *c)
{
	int ret = sockets_start(c, ROUTE);
	struct question *q = question(c);
	long fd;

	if (ret)
		return ret;
	fd = new_socket(ROUTE);
	if (fd < 0)
		return failed(c, "socket", fd);
	c->fd[CLIENT] = fd;
	*q = (struct question){
		.head = {
			.nlmsg_len = sizeof(*q),
			.nlmsg_type = c->variant->arg,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.of.ifi_index = LOOPBACK,
	};
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(sendto, c->fd[CLIENT], question(c), sizeof(struct question), 0, NULL, 0);

	return ret < 0 ? ret : SYS(recvfrom, c->fd[CLIENT], slot_data(c), ANSWER_MAX, 0, NULL, NULL);
}

static int check(struct cell *c)
{
	struct nlmsghdr *answer = (struct nlmsghdr *)slot_data(c);
	struct ifinfomsg *of = (struct ifinfomsg *)(answer + 1);
	long ret = op(c, 0);

	return wrong_if(c, ret, answer->nlmsg_type != RTM_NEWLINK || of->ifi_index != LOOPBACK,
			"netlink: wrong answer");
}

BENCH("netlink", MESSAGE, NETWORK, 18, "a netlink request to the kernel, and its answer",
      .source = "rtnetlink(7)", .syscalls = "sendto recvfrom",
      .variants = VARIANTS({ "RTM_GETLINK", .arg = RTM_GETLINK }),
      .setup = setup, .check = check, .op = op, .teardown = close_all);
