// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: labelled IPsec policies and states, without encryption. `policy-add` and
 * `policy-delete` are netlink requests, and so is `state-delete`, for a state that only has a
 * number; all of them are undone. `lookup` is a datagram that such a policy allows. `acquire` is a
 * datagram that needs a state which nobody negotiates, so it is not delivered. `clone` is a TCP
 * connection to a listener with its own policy; undo: close. All run in a separate network
 * namespace, which ends afterwards. Work of a kernel task that frees objects at the same time
 * counts.
 */
#include <linux/sched.h>
#include <linux/xfrm.h>
#include "../netlink.h"

enum { ADD, DELETE, STATE_DELETE, LOOKUP, ACQUIRE, CLONE };	/* arg of variants */

#define SENDER		3	/* c->fd[] */
#define SPI		0	/* c->state[] */
#define NETWORK		1	/* descriptor of the agent's original namespace */

struct label {
	struct nlattr attribute;
	struct xfrm_user_sec_ctx context;
	char text[LABEL_MAX];
};

struct template {
	struct nlattr attribute;
	struct xfrm_user_tmpl tmpl;
};

static void address(xfrm_address_t *to)
{
	to->a4 = __builtin_bswap32(INADDR_LOOPBACK);
}

/* Selects datagrams to slot 0's port only. */
static void select_datagrams(struct cell *c, struct xfrm_selector *selector)
{
	struct sockaddr_in *in = slot_address(c, 0);

	address(&selector->daddr);
	address(&selector->saddr);
	selector->dport = in->sin_port;
	selector->dport_mask = 0xffff;
	selector->family = AF_INET;
	selector->prefixlen_d = 32;
	selector->prefixlen_s = 32;
	selector->proto = IPPROTO_UDP;
}

static void describe(struct xfrm_userpolicy_info *policy, int direction)
{
	policy->lft.soft_byte_limit = XFRM_INF;
	policy->lft.hard_byte_limit = XFRM_INF;
	policy->lft.soft_packet_limit = XFRM_INF;
	policy->lft.hard_packet_limit = XFRM_INF;
	policy->dir = direction;
	policy->action = XFRM_POLICY_ALLOW;
}

/* Begins an order with a body of the given size, and returns the body. */
static void *begin(struct cell *c, int type, size_t body)
{
	struct nlmsghdr *head = order(c);

	memset(head, 0, NLMSG_LENGTH(body));
	head->nlmsg_type = type;
	head->nlmsg_len = NLMSG_LENGTH(body);
	return NLMSG_DATA(head);
}

static void *append(struct cell *c, size_t size)
{
	struct nlmsghdr *head = order(c);
	void *end = (char *)head + NLMSG_ALIGN(head->nlmsg_len);

	memset(end, 0, NLMSG_ALIGN(size));
	head->nlmsg_len = NLMSG_ALIGN(head->nlmsg_len) + size;
	return end;
}

/* The agent's own label. */
static void add_label(struct cell *c)
{
	size_t len = strlen(c->path), size = offsetof(struct label, text) + len;
	struct label *label = append(c, size);

	label->attribute.nla_len = size;
	label->attribute.nla_type = XFRMA_SEC_CTX;
	label->context.len = sizeof(label->context) + len;
	label->context.exttype = XFRMA_SEC_CTX;
	label->context.ctx_alg = XFRM_SC_ALG_SELINUX;
	label->context.ctx_doi = XFRM_SC_DOI_LSM;
	label->context.ctx_len = len;
	memcpy(label->text, c->path, len);
}

static void order_add(struct cell *c)
{
	struct xfrm_userpolicy_info *policy = begin(c, XFRM_MSG_NEWPOLICY, sizeof(*policy));
	struct template *template;

	select_datagrams(c, &policy->sel);
	describe(policy, XFRM_POLICY_OUT);
	add_label(c);
	if (c->variant->arg != ACQUIRE)
		return;
	template = append(c, sizeof(*template));
	template->attribute.nla_len = sizeof(*template);
	template->attribute.nla_type = XFRMA_TMPL;
	template->tmpl.id.proto = IPPROTO_ESP;
	template->tmpl.family = AF_INET;
	template->tmpl.mode = XFRM_MODE_TRANSPORT;
	template->tmpl.aalgos = ~0u;
	template->tmpl.ealgos = ~0u;
	template->tmpl.calgos = ~0u;
}

static void order_delete(struct cell *c)
{
	struct xfrm_userpolicy_id *id = begin(c, XFRM_MSG_DELPOLICY, sizeof(*id));

	select_datagrams(c, &id->sel);
	id->dir = XFRM_POLICY_OUT;
	add_label(c);
}

static void order_state_delete(struct cell *c)
{
	struct xfrm_usersa_id *id = begin(c, XFRM_MSG_DELSA, sizeof(*id));

	address(&id->daddr);
	id->spi = c->state[SPI];
	id->family = AF_INET;
	id->proto = IPPROTO_ESP;
}

/* Makes a state that only has a number. The answer to the request contains the state. */
static long make_state(struct cell *c)
{
	struct xfrm_userspi_info *info = begin(c, XFRM_MSG_ALLOCSPI, sizeof(*info));
	struct nlmsghdr *answer = (struct nlmsghdr *)slot_data(c);
	long ret;

	address(&info->info.id.daddr);
	address(&info->info.saddr);
	info->info.id.proto = IPPROTO_ESP;
	info->info.family = AF_INET;
	info->info.mode = XFRM_MODE_TRANSPORT;
	info->min = 0x1000;
	info->max = 0x1fff;
	ret = give_order(c);
	if (answer->nlmsg_type == NLMSG_ERROR)
		return ret;
	c->state[SPI] = ((struct xfrm_usersa_info *)NLMSG_DATA(answer))->id.spi;
	/* The acknowledgement, which follows the answer. */
	SYS(recvfrom, c->fd[CLIENT], slot_data(c), ANSWER_MAX, MSG_DONTWAIT, NULL, NULL);
	return 0;
}

/* Ends a requested state, including the kernel's record of the request. */
static long forget_states(struct cell *c)
{
	struct xfrm_usersa_flush *flush = begin(c, XFRM_MSG_FLUSHSA, sizeof(*flush));
	long wanted = SYS(recvfrom, c->fd[SERVER], slot_data(c), ANSWER_MAX, MSG_DONTWAIT, NULL,
			  NULL);

	if (wanted < 0)
		return wanted;
	flush->proto = IPPROTO_ESP;
	return give_order(c);
}

/* A listener for state requests, without which the kernel makes no requests. */
static long listen_for_wants(struct cell *c)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = 1 << (XFRMNLGRP_ACQUIRE - 1),
	};

	c->fd[SERVER] = new_socket(XFRM);
	return SYS(bind, c->fd[SERVER], &address, sizeof(address));
}

static long send_datagram(struct cell *c)
{
	return SYS(sendto, c->fd[SENDER], "x", 1, 0, slot_address(c, 0), c->state[ADDRESS_SIZE]);
}

static long receive_datagram(struct cell *c)
{
	char got;

	return SYS(recvfrom, c->fd[LISTENER], &got, 1, MSG_DONTWAIT, NULL, NULL);
}

/* Allows the listener's incoming and outgoing packets. */
static long protect_listener(struct cell *c)
{
	static const int directions[] = { XFRM_POLICY_IN, XFRM_POLICY_OUT };
	struct xfrm_userpolicy_info policy;
	unsigned int i;
	long ret = 0;

	for (i = 0; ret >= 0 && i < ARRAY_SIZE(directions); i++) {
		memset(&policy, 0, sizeof(policy));
		policy.sel.family = AF_INET;
		describe(&policy, directions[i]);
		ret = SYS(setsockopt, c->fd[LISTENER], 0 /* SOL_IP */, IP_XFRM_POLICY, &policy,
			  sizeof(policy));
	}
	return ret;
}

static void teardown(struct cell *c)
{
	close_all(c);
	SYS(setns, c->state[NETWORK], CLONE_NEWNET);
	sys_close(c->state[NETWORK]);
}

/*
 * A new network namespace, with IPsec enabled on its loopback interface, where it is disabled by
 * default.
 */
static int own_network(struct cell *c)
{
	static const char *const settings[] = { "disable_xfrm", "disable_policy" };
	char path[64];
	unsigned int i;
	long ret = sys_open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC, 0), fd;

	if (ret < 0)
		return unsupported(c, "no networks to choose from", ret);
	c->state[NETWORK] = ret;
	ret = SYS(unshare, CLONE_NEWNET);
	for (i = 0; ret >= 0 && i < ARRAY_SIZE(settings); i++) {
		format(path, sizeof(path), "/proc/sys/net/ipv4/conf/lo/%s", settings[i]);
		fd = sys_open(path, O_WRONLY | O_CLOEXEC, 0);
		if (fd < 0)
			return unsupported(c, "no IPsec here", fd);
		ret = sys_write(fd, "0", 1);
		sys_close(fd);
	}
	return ret < 0 ? unsupported(c, "no network of its own for this user", ret) : 0;
}

static int setup(struct cell *c)
{
	int ret = own_network(c);
	long err = 0;

	if (ret >= 0)
		ret = set_up_listener(c, c->variant->arg == CLONE ? TCP : UDP);
	if (ret >= 0)
		ret = open_netlink(c, XFRM);
	if (ret < 0) {
		if (c->state[NETWORK])
			teardown(c);
		return ret;
	}
	choose_label(c);
	c->fd[SENDER] = new_socket(UDP);
	switch (c->variant->arg) {
	case CLONE:
		err = protect_listener(c);
		break;
	case ACQUIRE:
		err = listen_for_wants(c);
		if (err < 0)
			break;
		/* fall through */
	case LOOKUP:
		order_add(c);
		err = give_order(c);
		break;
	}
	if (err >= 0)
		return 0;
	teardown(c);
	if (err == -EPERM || err == -EACCES)
		return unsupported(c, "IPsec is not for this user, or has no such labels", err);
	return failed(c, "an order to xfrm", err);
}

static int prepare(struct cell *c, unsigned int i)
{
	long ret = 0;

	switch (c->variant->arg) {
	case ADD:
		order_add(c);
		break;
	case DELETE:
		order_add(c);
		ret = give_order(c);
		order_delete(c);
		break;
	case STATE_DELETE:
		ret = make_state(c);
		order_state_delete(c);
		break;
	case CLONE:
		ret = new_socket(TCP);
		*slot_fd(c, i) = ret;
	}
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	switch (c->variant->arg) {
	case LOOKUP:
		return send_datagram(c);
	case ACQUIRE:
		/*
		 * The result does not matter: check() verifies that nothing arrives and that a
		 * state is requested.
		 */
		send_datagram(c);
		return 0;
	case CLONE:
		return connect_slot(c, *slot_fd(c, i), 0);
	}
	return give_order(c);
}

static int undo(struct cell *c, unsigned int i)
{
	long ret = 0;

	switch (c->variant->arg) {
	case ADD:
		order_delete(c);
		return give_order(c);
	case LOOKUP:
		ret = receive_datagram(c);
		return ret < 0 ? ret : 0;
	case ACQUIRE:
		ret = receive_datagram(c);
		return ret == -EAGAIN ? forget_states(c) : -EINVAL;
	case CLONE:
		ret = SYS(accept4, c->fd[LISTENER], NULL, NULL, SOCK_CLOEXEC);
		close_at_once(*slot_fd(c, i));
		return ret < 0 ? ret : sys_close(ret);
	}
	return 0;
}

static int check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret == -EPERM || ret == -EACCES)
		return unsupported(c, "IPsec is not for this user, or has no such labels", ret);
	if (ret < 0)
		return ret;
	switch (c->variant->arg) {
	case ADD:
		/* It exists already. */
		ret = op(c, 0);
		return ret == -EEXIST ? undo(c, 0) : failed(c, "xfrm: wrong result", ret);
	case DELETE:
		ret = op(c, 0);
		return ret == -ENOENT ? 0 : failed(c, "xfrm: the policy is still there", ret);
	case STATE_DELETE:
		ret = op(c, 0);
		return ret == -ESRCH ? 0 : failed(c, "xfrm: the state is still there", ret);
	}
	return undo(c, 0);
}

BENCH("xfrm", SOCKET, NETWORK, 23, "labelled IPsec policies and states",
      .source = "ip-xfrm(8)", .syscalls = "sendto recvfrom", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "policy-add", .arg = ADD, .modules = "xfrm_user" },
			   { "policy-delete", .arg = DELETE, .modules = "xfrm_user" },
			   { "state-delete", .arg = STATE_DELETE, .modules = "xfrm_user" },
			   { "lookup", .arg = LOOKUP, .modules = "xfrm_user",
			     .syscalls = "sendto" },
			   { "acquire", .arg = ACQUIRE, .modules = "xfrm_user",
			     .syscalls = "sendto" },
			   { "clone", .arg = CLONE, .modules = "xfrm_user",
			     .syscalls = "connect" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
