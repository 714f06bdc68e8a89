// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a message to NetLabel that sets the label of unlabelled packets from an address, and
 * the receipt of its answer; generic netlink handles it within the send. The label is the
 * process's own; EOPNOTSUPP if it has none. Undo: a message that removes it.
 */
#include "../netlabel.h"

#define ADDRESS		0xc0000201	/* 192.0.2.1, reserved (RFC 5737) */
#define ANSWER		1	/* c->state[]: answer to STATICADD: 0 or -EOPNOTSUPP */

static int setup(struct cell *c)
{
	int ret = open_netlabel(c, ADDRESS);

	if (ret)
		close_all(c);
	return ret;
}

OP(op, ask(c, netlabel_order(c, STATICADD)));

static int undo(struct cell *c, unsigned int i)
{
	long ret = error_of(c);

	if (ret != c->state[ANSWER])
		return ret < 0 ? ret : -EPROTO;
	if (ret < 0)
		return 0;
	ret = ask(c, netlabel_order(c, STATICREMOVE));
	return ret < 0 ? ret : error_of(c);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);
	int why;

	if (ret < 0)
		return ret;
	ret = error_of(c);
	why = no_label(c, ret);
	if (why)
		return why;
	if (ret < 0 && ret != -EOPNOTSUPP)
		return failed(c, "netlabel", ret);
	c->state[ANSWER] = ret;
	if (undo(c, 0))
		return failed(c, "netlabel: the label cannot be taken away", error_of(c));
	/* It no longer exists. */
	ret = ask(c, netlabel_order(c, STATICREMOVE));
	if (ret < 0)
		return ret;
	return error_of(c) == -ENOENT ? 0 : failed(c, "netlabel: wrong answer", error_of(c));
}

BENCH("netlabel", MESSAGE, NETWORK, 22, "a NetLabel label for unlabelled packets",
      .source = "Linux: Documentation/netlabel", .syscalls = "sendto recvfrom", .max_batch = 1,
      .variants = VARIANTS({ "static-label" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = close_all);
