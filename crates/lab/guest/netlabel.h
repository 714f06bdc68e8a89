/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to NetLabel about unlabelled packets: their label by address and interface. Generic
 * netlink handles them within the send.
 */
#ifndef LSMETER_NETLABEL_H
#define LSMETER_NETLABEL_H

#include <linux/genetlink.h>
#include "label.h"
#include "sockets.h"

/* net/netlabel/netlabel_unlabeled.h, which is not exported to user space. */
#define FAMILY_NAME	"NLBL_UNLBL"
#define FAMILY_VERSION	3
#define STATICADD	3
#define STATICREMOVE	4
#define A_IPV4ADDR	4
#define A_IPV4MASK	5
#define A_IFACE		6
#define A_SECCTX	7

#define INTERFACE	"lo"
#define NETLABEL	7	/* c->fd[]: the socket for requests */
#define FAMILY		0	/* c->state[]: the family's number */
#define ANSWER_MAX	4096
#define ORDER_LEN	256	/* of all with a label up to this limit */

struct netlabel_order {
	struct nlmsghdr head;
	struct genlmsghdr of;
	char attributes[2048];
};

/* The data contains a message for each command, then the answer. */
static inline struct netlabel_order *netlabel_order(struct cell *c, int command)
{
	return (struct netlabel_order *)slot_data(c) + command;
}

static inline char *answer(struct cell *c)
{
	return (char *)netlabel_order(c, STATICREMOVE + 1);
}

static inline void begin(struct netlabel_order *m, u16 family, u8 command, u8 version)
{
	*m = (struct netlabel_order){
		.head = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
			.nlmsg_type = family,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.of = { .cmd = command, .version = version },
	};
}

static inline void add(struct netlabel_order *m, u16 type, const void *value, u16 len)
{
	struct nlattr *attribute = (struct nlattr *)((char *)m + m->head.nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attribute + NLA_HDRLEN, value, len);
	m->head.nlmsg_len += NLA_ALIGN(attribute->nla_len);
}

/*
 * Pads the request with a no-op message, so that its length, and the cost of copying it, does not
 * depend on the label.
 */
static inline void fill_up(struct netlabel_order *m)
{
	struct nlmsghdr *rest = (struct nlmsghdr *)((char *)m + m->head.nlmsg_len);

	if (m->head.nlmsg_len + NLMSG_HDRLEN <= ORDER_LEN)
		*rest = (struct nlmsghdr){
			.nlmsg_len = ORDER_LEN - m->head.nlmsg_len,
			.nlmsg_type = NLMSG_NOOP,
		};
}

/* A command for one address, with a full mask. */
static inline void describe(struct cell *c, int command, u32 from, const char *label, long len)
{
	u32 address = __builtin_bswap32(from), mask = ~0u;
	struct netlabel_order *m = netlabel_order(c, command);

	begin(m, c->state[FAMILY], command, FAMILY_VERSION);
	add(m, A_IPV4ADDR, &address, sizeof(address));
	add(m, A_IPV4MASK, &mask, sizeof(mask));
	add(m, A_IFACE, INTERFACE, sizeof(INTERFACE));
	if (label)
		add(m, A_SECCTX, label, len);
	fill_up(m);
}

static inline long ask(struct cell *c, struct netlabel_order *m)
{
	size_t len = m->head.nlmsg_len > ORDER_LEN ? m->head.nlmsg_len : ORDER_LEN;
	long ret = SYS(sendto, c->fd[NETLABEL], m, len, 0, NULL, 0);

	return ret < 0 ? ret :
	       SYS(recvfrom, c->fd[NETLABEL], answer(c), ANSWER_MAX, MSG_DONTWAIT, NULL, NULL);
}

/* The error in the acknowledgement. */
static inline int error_of(struct cell *c)
{
	struct nlmsghdr *head = (struct nlmsghdr *)answer(c);

	return head->nlmsg_type == NLMSG_ERROR ? ((struct nlmsgerr *)(head + 1))->error : -EPROTO;
}

/* The family's number, which the kernel assigned at boot. */
static inline long find_family(struct cell *c)
{
	struct netlabel_order *m = netlabel_order(c, 0), *a = (struct netlabel_order *)answer(c);
	char *at = a->attributes;
	long ret;

	begin(m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	m->head.nlmsg_flags = NLM_F_REQUEST;
	add(m, CTRL_ATTR_FAMILY_NAME, FAMILY_NAME, sizeof(FAMILY_NAME));
	fill_up(m);
	ret = ask(c, m);
	if (ret < 0)
		return ret;
	if (a->head.nlmsg_type == NLMSG_ERROR)
		return error_of(c);
	while (at + NLA_HDRLEN <= (char *)a + a->head.nlmsg_len) {
		struct nlattr *attribute = (struct nlattr *)at;

		if (attribute->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(u16 *)(at + NLA_HDRLEN);
		if (attribute->nla_len < NLA_HDRLEN)
			break;
		at += NLA_ALIGN(attribute->nla_len);
	}
	return -EPROTO;
}

/* For setup(): socket, family, and requests for the address with the process's own label. */
static inline int open_netlabel(struct cell *c, u32 address)
{
	char label[LABEL_MAX];
	long fd = SYS(socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), ret;

	if (fd < 0)
		return no_socket(c, fd);
	c->fd[NETLABEL] = fd;
	ret = find_family(c);
	if (ret < 0)
		return unsupported(c, "this kernel has no NetLabel", ret);
	c->state[FAMILY] = ret;
	if (own_label(label) <= 0)
		format(label, sizeof(label), "none");
	/* The label includes the final NUL, as with netlabelctl(8). */
	describe(c, STATICADD, address, label, strlen(label) + 1);
	describe(c, STATICREMOVE, address, NULL, 0);
	return 0;
}

/* The reason why a label could not be set, for check(); 0 for other answers. */
static inline int no_label(struct cell *c, long err)
{
	if (err == -EPERM || err == -EACCES)
		return unsupported(c, "only root labels packets", err);
	if (err == -ENODEV)
		return unsupported(c, "there is no loopback interface", err);
	if (err == -EINVAL || err == -ENOENT)
		return unsupported(c, "no module takes the label that it says the process has", err);
	return 0;
}

#endif
