/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Netlink requests, which the kernel handles and answers within the send. */
#ifndef LSMETER_NETLINK_H
#define LSMETER_NETLINK_H

#include "label.h"
#include "sockets.h"

#define ANSWER_MAX	8192	/* bytes of slot_data() for the answer; orders follow */

static inline void *order(struct cell *c)
{
	return slot_data(c) + ANSWER_MAX;
}

/* Sends the request in order(); returns the kernel's answer. */
static inline long give_order(struct cell *c)
{
	struct nlmsghdr *head = order(c);
	struct nlmsgerr *answer = (struct nlmsgerr *)(slot_data(c) + NLMSG_HDRLEN);
	long ret;

	head->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	ret = SYS(sendto, c->fd[CLIENT], head, head->nlmsg_len, 0, NULL, 0);
	if (ret >= 0)
		ret = SYS(recvfrom, c->fd[CLIENT], slot_data(c), ANSWER_MAX, MSG_DONTWAIT, NULL, NULL);
	return ret < 0 ? ret : answer->error;
}

/* For setup(): the socket for requests. */
static inline int open_netlink(struct cell *c, enum socket_kind kind)
{
	int ret = sockets_start(c, kind);
	long fd;

	if (ret)
		return ret;
	fd = new_socket(kind);
	if (fd < 0)
		return failed(c, "socket", fd);
	c->fd[CLIENT] = fd;
	return 0;
}

#define NO_LABEL	"kernel"	/* SELinux's label before a policy is loaded */

/*
 * Leaves the agent's label in c->path, or one that SELinux accepts without a policy. Returns
 * whether a module supplied it.
 */
static inline int choose_label(struct cell *c)
{
	if (own_label(c->path) > 0)
		return 1;
	format(c->path, LABEL_MAX, NO_LABEL);
	return 0;
}

#endif
