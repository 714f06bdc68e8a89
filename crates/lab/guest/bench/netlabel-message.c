// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a datagram over the loopback interface to another socket of the task, and its receipt.
 * NetLabel labels such packets with the task's own label, so that the module checks sender and
 * receiver. The label is removed afterwards.
 */
#include "../control.h"
#include "../messages.h"
#include "../netlabel.h"
#include "../vm-only.h"

#define IP_PASSSEC	18	/* <linux/in.h> has it, but conflicts with other headers */
#define SOL_IP		0

struct label_message {
	u64 len;
	int level, type;
	char label[CONTROL_MAX];
};

static void teardown(struct cell *c)
{
	if (c->fd[NETLABEL])
		ask(c, netlabel_order(c, STATICREMOVE));
	tear_down_pair(c);
}

static int setup(struct cell *c)
{
	int ret = vm_only(c, "it labels packets of the whole machine");
	long err;

	if (!ret)
		ret = set_up_pair(c, UDP);
	if (ret)
		return ret;
	ret = open_netlabel(c, INADDR_LOOPBACK);
	if (ret) {
		tear_down_pair(c);
		return ret;
	}
	err = ask(c, netlabel_order(c, STATICADD));
	if (err >= 0)
		err = error_of(c);
	if (err >= 0)
		return 0;
	ret = no_label(c, err);
	if (!ret && err == -EOPNOTSUPP)
		ret = unsupported(c, "no module of the stack labels packets", err);
	teardown(c);
	return ret ? ret : failed(c, "netlabel", err);
}

/* The received label is the task's own, which only NetLabel could have set. */
static int check_label(struct cell *c)
{
	char own[LABEL_MAX], byte;
	struct iovec part = { &byte, 1 };
	struct label_message came = { 0 };
	struct message received = {
		.parts = &part,
		.part_count = 1,
		.control = &came,
		.control_len = sizeof(came),
	};
	long ret = set_option(c->fd[SERVER], SOL_IP, IP_PASSSEC, 1);

	if (ret >= 0)
		ret = send_to(c, CLIENT, 1);
	if (ret >= 0)
		ret = SYS(recvmsg, c->fd[SERVER], &received, 0);
	if (ret < 0)
		return failed(c, "a datagram with its label", ret);
	ret = set_option(c->fd[SERVER], SOL_IP, IP_PASSSEC, 0);
	if (ret < 0)
		return failed(c, "setsockopt", ret);
	if (own_label(own) <= 0 || came.type != SCM_SECURITY)
		return unsupported(c, "no label comes with packets: it needs Smack, or SELinux with a policy", 0);
	came.label[sizeof(came.label) - 1] = 0;
	return strlen(came.label) == strlen(own) && !memcmp(came.label, own, strlen(own)) ? 0 :
	       failed(c, "netlabel: another label came", 0);
}

static int check(struct cell *c)
{
	long ret = check_message(c);

	return ret ? ret : check_label(c);
}

BENCH("netlabel-message", MESSAGE, NETWORK, 26,
      "a datagram over the loopback interface, labelled by NetLabel",
      .source = "Linux: Documentation/netlabel", .syscalls = "sendto recvfrom",
      .variants = VARIANTS({ "udp-1B", .arg = UDP, .arg2 = 1 }),
      .setup = setup, .check = check, .op = send_and_receive, .teardown = teardown);
