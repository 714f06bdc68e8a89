// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a netlink request to nf_tables that creates a packet label (nft's `add secmark`) in an
 * existing table. Undo: the label is deleted. This needs a module that labels packets.
 */
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nf_tables.h>
#include "../netlink.h"

#define TABLE		"lsmeter"
#define NAME		"label"
#define OBJECT_SECMARK	8	/* NFT_OBJECT_SECMARK, missing from older headers */
#define SECMARK_CTX	1	/* NFTA_SECMARK_CTX */
#define FAMILY_IPV4	2

/* The end of the batch: a message header, before attributes. */
static struct nlmsghdr *add_message(struct cell *c, int type, int flags, u16 resource)
{
	struct nlmsghdr *head = (struct nlmsghdr *)((char *)order(c) + c->state[0]);
	struct nfgenmsg *message = NLMSG_DATA(head);

	memset(head, 0, NLMSG_LENGTH(sizeof(*message)));
	head->nlmsg_len = NLMSG_LENGTH(sizeof(*message));
	head->nlmsg_type = type;
	head->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nfgen_family = FAMILY_IPV4;
	message->res_id = big_endian(resource);
	c->state[0] += head->nlmsg_len;
	return head;
}

static struct nlattr *add_attribute(struct cell *c, struct nlmsghdr *head, int type,
				    const void *data, size_t len)
{
	struct nlattr *attribute = (struct nlattr *)((char *)head + head->nlmsg_len);

	memset(attribute, 0, NLMSG_ALIGN(NLA_HDRLEN + len));
	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attribute + NLA_HDRLEN, data, len);
	head->nlmsg_len += NLMSG_ALIGN(attribute->nla_len);
	c->state[0] += NLMSG_ALIGN(attribute->nla_len);
	return attribute;
}

static void add_text(struct cell *c, struct nlmsghdr *head, int type, const char *text)
{
	add_attribute(c, head, type, text, strlen(text) + 1);
}

/* A batch with one order about the table (0) or its label. */
static void order_about(struct cell *c, int order_type, int is_label)
{
	u32 kind = __builtin_bswap32(OBJECT_SECMARK);
	struct nlattr *nested;
	struct nlmsghdr *head;

	c->state[0] = 0;
	add_message(c, NFNL_MSG_BATCH_BEGIN, 0, NFNL_SUBSYS_NFTABLES);
	head = add_message(c, NFNL_SUBSYS_NFTABLES << 8 | order_type, NLM_F_ACK | NLM_F_CREATE, 0);
	if (!is_label) {
		add_text(c, head, NFTA_TABLE_NAME, TABLE);
	} else {
		add_text(c, head, NFTA_OBJ_TABLE, TABLE);
		add_text(c, head, NFTA_OBJ_NAME, NAME);
		add_attribute(c, head, NFTA_OBJ_TYPE, &kind, sizeof(kind));
	}
	if (order_type == NFT_MSG_NEWOBJ) {
		nested = add_attribute(c, head, NFTA_OBJ_DATA | NLA_F_NESTED, NULL, 0);
		add_text(c, head, SECMARK_CTX, c->path);
		nested->nla_len = (char *)head + head->nlmsg_len - (char *)nested;
	}
	add_message(c, NFNL_MSG_BATCH_END, 0, NFNL_SUBSYS_NFTABLES);
}

static long give_batch(struct cell *c)
{
	struct nlmsgerr *answer = (struct nlmsgerr *)(slot_data(c) + NLMSG_HDRLEN);
	long ret = SYS(sendto, c->fd[CLIENT], order(c), c->state[0], 0, NULL, 0);

	if (ret >= 0)
		ret = SYS(recvfrom, c->fd[CLIENT], slot_data(c), ANSWER_MAX, MSG_DONTWAIT, NULL, NULL);
	return ret < 0 ? ret : answer->error;
}

static void teardown(struct cell *c)
{
	order_about(c, NFT_MSG_DELTABLE, 0);
	give_batch(c);
	close_all(c);
}

static int setup(struct cell *c)
{
	int ret = open_netlink(c, NETFILTER);
	long err;

	if (ret)
		return ret;
	choose_label(c);
	order_about(c, NFT_MSG_NEWTABLE, 0);
	err = give_batch(c);
	if (err >= 0)
		return 0;
	close_all(c);
	if (err == -EPERM || err == -EINVAL || err == -EAFNOSUPPORT || err == -EOPNOTSUPP)
		return unsupported(c, "no nf_tables here, or not for this user", err);
	return failed(c, "an order to nf_tables", err);
}

static int prepare(struct cell *c, unsigned int i)
{
	order_about(c, NFT_MSG_NEWOBJ, 1);
	return 0;
}

OP(op, give_batch(c));

static int undo(struct cell *c, unsigned int i)
{
	order_about(c, NFT_MSG_DELOBJ, 1);
	return give_batch(c);
}

static int check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret == -EOPNOTSUPP || ret == -EINVAL || ret == -ENOENT || ret == -EACCES)
		return unsupported(c, "no module of the stack has such packet labels", ret);
	if (ret < 0)
		return ret;
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	ret = undo(c, 0);
	return ret == -ENOENT ? 0 : failed(c, "nf_tables: the label is still there", ret);
}

BENCH("secmark", SOCKET, NETWORK, 24, "a packet label in nf_tables",
      .source = "nft(8), secmark", .syscalls = "sendto recvfrom", .max_batch = 1,
      .variants = VARIANTS({ "add", .modules = "nf_tables" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
