// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: bpf that creates a token (`create`), or a map with a token (`map-create`). A token
 * belongs to a user namespace with its own bpf file system, to which a process outside delegates
 * permissions. So a child has its own user and mount namespaces, and its bpf call is measured.
 * Undo: close of the descriptor; the file system is not mounted anywhere, and ends with the child.
 */
#include <linux/bpf.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include "../child.h"

/* Missing from headers of older kernels. */
#define TOKEN_CREATE	36
#define WITH_TOKEN	(1u << 16)

#define ORDERS		0	/* c->fd[]: to the child */
#define ANSWERS		1	/* from it: a descriptor, 0, or an error */
#define FILE_SYSTEM	2	/* a mount of it */
#define ROOT		3	/* its root directory */
#define MAP_CREATE	1	/* arg of variants */

/* Orders to the child. */
struct order {
	enum {
		OPEN,		/* opens the file system, which then belongs to its namespace */
		PART,		/* unshares the descriptor table; `root` is the directory */
		DO,		/* makes the measured call */
		UNDO,
	} what;
	int root;
};

struct child {
	int makes_map;
	int orders[2], answers[2];
	int root, token, made;
};

static long make_token(int root)
{
	struct {
		u32 flags, file_system;
	} attributes = { 0, root };

	return SYS(bpf, TOKEN_CREATE, &attributes, sizeof(attributes));
}

static long make_map(int token)
{
	struct {
		u32 type, key_size, value_size, entries, flags, unused[14];
		int token;
	} attributes = {
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(u32),
		.value_size = sizeof(u32),
		.entries = 4,
		.flags = WITH_TOKEN,
		.token = token,
	};

	return SYS(bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes));
}

static int part(struct child *self, int root)
{
	long ret = SYS(unshare, CLONE_FILES);

	if (ret < 0)
		return ret;
	/* Only the agent has the other end; closing it ends the child. */
	sys_close(self->orders[1]);
	self->root = root;
	return self->makes_map ? self->token = make_token(root) : 0;
}

static int make(struct child *self)
{
	long ret;

	window_begin();
	ret = self->makes_map ? make_map(self->token) : make_token(self->root);
	window_end();
	return self->made = ret;
}

static int obey(struct child *self, const struct order *order)
{
	switch (order->what) {
	case OPEN:
		return SYS(fsopen, "bpf", 1 /* FSOPEN_CLOEXEC */);
	case PART:
		return part(self, order->root);
	case DO:
		return make(self);
	case UNDO:
		return sys_close(self->made);
	}
	return -EINVAL;
}

static __attribute__((noreturn)) void serve(struct child *self)
{
	struct order order;
	int answer;

	SYS(prctl, PR_SET_PDEATHSIG, SIGKILL);
	while (sys_read(self->orders[0], &order, sizeof(order)) == sizeof(order)) {
		answer = obey(self, &order);
		sys_write(self->answers[1], &answer, sizeof(answer));
	}
	for (;;)
		SYS(exit_group, 0);
}

static long tell(struct cell *c, int what)
{
	struct order order = { what, c->fd[ROOT] };
	long ret = sys_write(c->fd[ORDERS], &order, sizeof(order));
	int answer = -EPIPE;

	if (ret > 0)
		ret = sys_read(c->fd[ANSWERS], &answer, sizeof(answer));
	return ret < 0 ? ret : answer;
}

static void teardown(struct cell *c)
{
	close_as(c, ORDERS);
	end_child(c);
	close_as(c, ANSWERS);
	close_as(c, ROOT);
	close_as(c, FILE_SYSTEM);
}

static long delegate(long fs)
{
	static const char *const what[] = {
		"delegate_cmds", "delegate_maps", "delegate_progs", "delegate_attachs",
	};
	unsigned int i;
	long err = 0;

	for (i = 0; i < ARRAY_SIZE(what) && !err; i++)
		err = SYS(fsconfig, fs, FSCONFIG_SET_STRING, what[i], "any", 0);
	return err ? err : SYS(fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}

/* The child opens its file system, the agent mounts it, and both have a descriptor of it. */
static long make_file_system(struct cell *c)
{
	long fs = tell(c, OPEN), ret;

	if (fs < 0)
		return fs;
	ret = delegate(fs);
	if (ret >= 0)
		ret = SYS(fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, 0);
	sys_close(fs);
	if (ret < 0)
		return ret;
	c->fd[FILE_SYSTEM] = ret;
	ret = SYS(openat, c->fd[FILE_SYSTEM], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret < 0)
		return ret;
	c->fd[ROOT] = ret;
	return tell(c, PART);
}

static int setup(struct cell *c)
{
	struct child child = { .makes_map = c->variant->arg };
	long err = SYS(pipe2, child.orders, O_CLOEXEC), pid;

	if (!err)
		err = SYS(pipe2, child.answers, O_CLOEXEC);
	if (err < 0)
		return failed(c, "pipe2", err);
	pid = SYS(clone, CLONE_NEWUSER | CLONE_NEWNS | CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		serve(&child);
	c->state[CHILD] = pid;
	c->fd[ORDERS] = child.orders[1];
	c->fd[ANSWERS] = child.answers[0];
	err = pid < 0 ? pid : make_file_system(c);
	sys_close(child.orders[0]);
	sys_close(child.answers[1]);
	if (err >= 0)
		return 0;
	if (pid > 0) {
		teardown(c);
		return unsupported(c, "no tokens of bpf here, or not for this user", err);
	}
	close_as(c, ORDERS);
	close_as(c, ANSWERS);
	return unsupported(c, "no user namespace for a child", err);
}

OP(op, tell(c, DO));

SLOT(undo, tell(c, UNDO));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EINVAL || ret == -EPERM || ret == -EOPNOTSUPP)
		return unsupported(c, "no tokens of bpf here, or not for this user", ret);
	if (ret < 0)
		return ret;
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	/* The agent is outside the file system's namespace. */
	ret = make_token(c->fd[ROOT]);
	return ret == -EPERM ? 0 : failed(c, "bpf: a token outside the namespace", ret);
}

BENCH("bpf-token", TRACE, IPC, 38, "bpf that creates a token, or a map with one",
      .source = "Linux: kernel/bpf/token.c", .syscalls = "bpf", .max_batch = 1, .composite = 1,
      .variants = VARIANTS({ "create" }, { "map-create", .arg = MAP_CREATE }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
