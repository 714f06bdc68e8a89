// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a byte to the other end of a pair of unix sockets with ancillary data, and its receipt:
 * a descriptor, the sender's credentials, or its security label (if a module has one). Undo: close
 * of the received descriptor.
 */
#include "../control.h"

struct control {
	u64 len;
	int level, type;
	int data[3];
};

struct both {
	struct message sent, received;
	struct iovec part;
	struct control control;
	char byte;
	char space[CONTROL_MAX] __attribute__((aligned(8)));
};

static struct both *both(struct cell *c)
{
	return (struct both *)slot_data(c);
}

static int setup(struct cell *c)
{
	struct both *b = both(c);
	struct control *sent = &b->control;
	long type = c->variant->arg;
	int ret = set_up_pair(c, UNIX_STREAM);

	if (ret)
		return ret;
	b->part = (struct iovec){ &b->byte, 1 };
	b->sent = (struct message){ .parts = &b->part, .part_count = 1 };
	b->received = b->sent;
	b->received.control = b->space;
	if (type == SCM_SECURITY) {
		ret = set_option(c->fd[SERVER], SOL_SOCKET, SO_PASSSEC, 1);
	} else {
		sent->len = offsetof(struct control, data) + sizeof(int);
		sent->level = SOL_SOCKET;
		sent->type = type;
		sent->data[0] = c->fd[CLIENT];
		b->sent.control = sent;
	}
	if (type == SCM_CREDENTIALS) {
		sent->len = offsetof(struct control, data) + sizeof(sent->data);
		sent->data[0] = SYS(getpid);
		sent->data[1] = SYS(getuid);
		sent->data[2] = SYS(getgid);
		ret = set_option(c->fd[SERVER], SOL_SOCKET, SO_PASSCRED, 1);
	}
	b->sent.control_len = sent->len;
	if (ret < 0) {
		tear_down_pair(c);
		return failed(c, "setsockopt", ret);
	}
	return 0;
}

static int prepare(struct cell *c, unsigned int i)
{
	both(c)->received.control_len = CONTROL_MAX;
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(sendmsg, c->fd[CLIENT], &both(c)->sent, 0);

	return ret < 0 ? ret : SYS(recvmsg, c->fd[SERVER], &both(c)->received, 0);
}

static int undo(struct cell *c, unsigned int i)
{
	struct control *came = (struct control *)both(c)->space;

	return c->variant->arg == SCM_RIGHTS ? sys_close(came->data[0]) : 0;
}

static int check(struct cell *c)
{
	struct control *came = (struct control *)both(c)->space;
	struct both *b = both(c);
	long ret;

	prepare(c, 0);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	/* A stack without labels sends none. */
	if (c->variant->arg == SCM_SECURITY)
		return 0;
	if (!b->received.control_len || came->type != c->variant->arg)
		return failed(c, "recvmsg: wrong result", 0);
	if (c->variant->arg == SCM_CREDENTIALS && came->data[0] != SYS(getpid))
		return failed(c, "recvmsg: wrong process", 0);
	if (c->variant->arg == SCM_RIGHTS && came->data[0] == c->fd[CLIENT])
		return failed(c, "recvmsg: wrong descriptor", 0);
	return undo(c, 0);
}

BENCH("unix-control", MESSAGE, NETWORK, 17,
      "a descriptor, credentials or a label from one unix socket of a task to another",
      .source = "unix(7)", .syscalls = "sendmsg recvmsg", .max_batch = 1,
      .variants = VARIANTS({ "SCM_RIGHTS", .arg = SCM_RIGHTS },
			   { "SCM_CREDENTIALS", .arg = SCM_CREDENTIALS },
			   { "SCM_SECURITY", .arg = SCM_SECURITY }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = tear_down_pair);
