// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: a message to NetLabel that gives packets from an address a label which they do not have
 * themselves, and the receipt of its answer: by generic netlink, which works it off within the
 * send. The label is the process's own; where no module knows one, EOPNOTSUPP is the answer.
 * Undone outside: the message that takes it away.
 */
#include <linux/genetlink.h>
#include "../label.h"
#include "../sockets.h"

/* net/netlabel/netlabel_unlabeled.h, which user space gets no copy of. */
#define FAMILY_NAME	"NLBL_UNLBL"
#define FAMILY_VERSION	3
#define STATICADD	3
#define STATICREMOVE	4
#define A_IPV4ADDR	4
#define A_IPV4MASK	5
#define A_IFACE		6
#define A_SECCTX	7

#define INTERFACE	"lo"
#define ADDRESS		0xc0000201	/* 192.0.2.1, which nobody has (RFC 5737) */
#define FAMILY		0	/* c->state[]: its number */
#define ANSWER		1	/* what STATICADD is answered with: 0 or -EOPNOTSUPP */
#define ANSWER_MAX	4096

struct message {
	struct nlmsghdr head;
	struct genlmsghdr of;
	char attributes[2048];
};

/* In the data: a message for each command, and behind them the answer. */
static struct message *message(struct cell *c, int command)
{
	return (struct message *)slot_data(c) + command;
}

static char *answer(struct cell *c)
{
	return (char *)message(c, STATICREMOVE + 1);
}

static void begin(struct message *m, u16 family, u8 command, u8 version)
{
	*m = (struct message){
		.head = {
			.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
			.nlmsg_type = family,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.of = { .cmd = command, .version = version },
	};
}

static void add(struct message *m, u16 type, const void *value, u16 len)
{
	struct nlattr *attribute = (struct nlattr *)((char *)m + m->head.nlmsg_len);

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attribute + NLA_HDRLEN, value, len);
	m->head.nlmsg_len += NLA_ALIGN(attribute->nla_len);
}

/* A command for the address, which leaves out no bit of it. */
static void describe(struct cell *c, int command, const char *label, long len)
{
	u32 address = __builtin_bswap32(ADDRESS), mask = ~0u;
	struct message *m = message(c, command);

	begin(m, c->state[FAMILY], command, FAMILY_VERSION);
	add(m, A_IPV4ADDR, &address, sizeof(address));
	add(m, A_IPV4MASK, &mask, sizeof(mask));
	add(m, A_IFACE, INTERFACE, sizeof(INTERFACE));
	if (label)
		add(m, A_SECCTX, label, len);
}

static long ask(struct cell *c, struct message *m)
{
	long ret = SYS(sendto, c->fd[CLIENT], m, m->head.nlmsg_len, 0, NULL, 0);

	return ret < 0 ? ret :
	       SYS(recvfrom, c->fd[CLIENT], answer(c), ANSWER_MAX, MSG_DONTWAIT, NULL, NULL);
}

/* The acknowledgement's. */
static int error_of(struct cell *c)
{
	struct nlmsghdr *head = (struct nlmsghdr *)answer(c);

	return head->nlmsg_type == NLMSG_ERROR ? ((struct nlmsgerr *)(head + 1))->error : -EPROTO;
}

/* The number of the family, which the kernel chose when it booted. */
static long find_family(struct cell *c)
{
	struct message *m = message(c, 0), *a = (struct message *)answer(c);
	char *at = a->attributes;
	long ret;

	begin(m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	m->head.nlmsg_flags = NLM_F_REQUEST;
	add(m, CTRL_ATTR_FAMILY_NAME, FAMILY_NAME, sizeof(FAMILY_NAME));
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

static int setup(struct cell *c)
{
	char label[LABEL_MAX];
	long fd = SYS(socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), ret;

	if (fd < 0)
		return no_socket(c, fd);
	c->fd[CLIENT] = fd;
	ret = find_family(c);
	if (ret < 0) {
		close_all(c);
		return unsupported(c, "this kernel has no NetLabel", ret);
	}
	c->state[FAMILY] = ret;
	if (own_label(label) <= 0)
		format(label, sizeof(label), "none");
	/* With the NUL at its end, as netlabelctl(8) has it. */
	describe(c, STATICADD, label, strlen(label) + 1);
	describe(c, STATICREMOVE, NULL, 0);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return ask(c, message(c, STATICADD));
}

static int undo(struct cell *c, unsigned int i)
{
	long ret = error_of(c);

	if (ret != c->state[ANSWER])
		return ret < 0 ? ret : -EPROTO;
	if (ret < 0)
		return 0;
	ret = ask(c, message(c, STATICREMOVE));
	return ret < 0 ? ret : error_of(c);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	ret = error_of(c);
	if (ret == -EPERM || ret == -EACCES)
		return unsupported(c, "only root labels packets", ret);
	if (ret == -ENODEV)
		return unsupported(c, "there is no loopback interface", ret);
	if (ret == -EINVAL || ret == -ENOENT)
		return unsupported(c, "no module takes the label that it says the process has", ret);
	if (ret < 0 && ret != -EOPNOTSUPP)
		return failed(c, "netlabel", ret);
	c->state[ANSWER] = ret;
	if (undo(c, 0))
		return failed(c, "netlabel: the label cannot be taken away", error_of(c));
	/* Nothing is there any more. */
	ret = ask(c, message(c, STATICREMOVE));
	if (ret < 0)
		return ret;
	return error_of(c) == -ENOENT ? 0 : failed(c, "netlabel: wrong answer", error_of(c));
}

static const struct variant variants[] = {
	{ .name = "static-label" },
	{ }
};

BENCHMARK(bench_netlabel) = {
	.name = "netlabel",
	.summary = "a label for packets that have none, given to NetLabel",
	.source = "Linux: Documentation/netlabel",
	.syscalls = "sendto recvfrom",
	.variants = variants,
	.class = CLASS_MESSAGE,
	.suite = SUITE_NETWORK,
	.number = 22,
	.measures = MEASURE_LATENCY,
	.max_batch = 1,
	.setup = setup,
	.check = check,
	.op = op,
	.undo = undo,
	.teardown = close_all,
};
