// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: keyctl(KEYCTL_SESSION_TO_PARENT) by a child, and the parent's return to user space, at
 * which it takes over the child's session keyring. This includes the child's write that wakes the
 * parent, and the end of the read in which the parent waits. The agent may be process 1, which
 * cannot take over a keyring, so both are other processes. Undo: the child joins a new session.
 */
#include <linux/keyctl.h>
#include <linux/sched.h>
#include "../child.h"

#define ORDERS		0	/* c->fd[]: to the child; the agent writes */
#define ANSWERS		2	/* from both; the agent reads */
#define JOIN		'j'
#define GIVE		'g'
#define TRIES		100	/* for a new session: old ones are freed after grace periods */

/* Pipes; each task closes the ends that it does not use. */
struct pipes {
	int orders[2];		/* from the agent to the child */
	int wake[2];		/* from the child to its parent */
	int answers[2];		/* from both to the agent: an error's number, or 0 */
};

static void rest(void)
{
	struct timespec time = { 0, SETTLE_NS };

	SYS(nanosleep, &time, NULL);
}

static void say(int fd, long ret)
{
	u8 byte = ret < 0 ? -ret : 0;

	sys_write(fd, &byte, 1);
}

static long join(void)
{
	long tries, ret = -EDQUOT;

	for (tries = 0; ret == -EDQUOT && tries < TRIES; tries++) {
		if (tries)
			rest();
		ret = SYS(keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0);
	}
	return ret;
}

/*
 * The child. The region ends in the parent, which must run as soon as it is woken, so the child is
 * SCHED_IDLE.
 */
static __attribute__((noreturn)) void give(struct pipes *p)
{
	int priority = 0;
	char order;
	long ret;

	SYS(sched_setscheduler, 0, SCHED_IDLE, &priority);
	while (sys_read(p->orders[0], &order, 1) == 1) {
		if (order == JOIN) {
			say(p->answers[1], join());
			continue;
		}
		marker(MARKER_WINDOW_BEGIN_ALL);
		ret = SYS(keyctl, KEYCTL_SESSION_TO_PARENT, 0, 0, 0, 0);
		say(p->wake[1], ret);
	}
	for (;;)
		SYS(exit_group, 0);
}

/*
 * The child's parent: forwards the child's answer to the agent, and reports whether the session
 * changed.
 */
static __attribute__((noreturn)) void take(struct pipes *p)
{
	long child, before, now;
	u8 byte;

	/* Only the agent has the other end; closing it ends the child. */
	sys_close(p->orders[1]);
	child = SYS(fork);
	if (child == 0)
		give(p);
	sys_close(p->orders[0]);
	sys_close(p->wake[1]);
	before = SYS(keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0, 0, 0);
	/* From now on it only waits. */
	say(p->answers[1], child);
	while (child > 0 && sys_read(p->wake[0], &byte, 1) == 1) {
		window_end();
		now = SYS(keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0, 0, 0);
		if (!byte && now == before)
			byte = ESTALE;
		before = now;
		sys_write(p->answers[1], &byte, 1);
	}
	if (child > 0)
		SYS(wait4, child, NULL, 0, NULL);
	for (;;)
		SYS(exit_group, 0);
}

static long answer(struct cell *c)
{
	u8 byte = 0;
	long ret = sys_read(c->fd[ANSWERS], &byte, 1);

	if (ret < 0)
		return ret;
	return ret == 1 ? -(long)byte : -EPIPE;
}

static long order(struct cell *c, char what)
{
	long ret = sys_write(c->fd[ORDERS], &what, 1);

	return ret < 0 ? ret : answer(c);
}

static void teardown(struct cell *c)
{
	/* Closing it ends both, one after the other. */
	close_as(c, ORDERS);
	SYS(wait4, c->state[CHILD], NULL, 0, NULL);
	close_as(c, ANSWERS);
}

static int setup(struct cell *c)
{
	struct pipes p;
	long err = SYS(pipe2, p.orders, O_CLOEXEC), pid;

	if (!err)
		err = SYS(pipe2, p.wake, O_CLOEXEC);
	if (!err)
		err = SYS(pipe2, p.answers, O_CLOEXEC);
	if (err < 0)
		return failed(c, "pipe2", err);
	pid = SYS(fork);
	if (pid == 0) {
		sys_close(p.answers[0]);
		SYS(prctl, PR_SET_PDEATHSIG, SIGKILL);
		take(&p);
	}
	sys_close(p.orders[0]);
	sys_close(p.wake[0]);
	sys_close(p.wake[1]);
	sys_close(p.answers[1]);
	c->fd[ORDERS] = p.orders[1];
	c->fd[ANSWERS] = p.answers[0];
	c->state[CHILD] = pid;
	if (pid > 0) {
		err = answer(c);
		if (err < 0)
			teardown(c);
		return err < 0 ? failed(c, "fork", err) : 0;
	}
	close_as(c, ORDERS);
	close_as(c, ANSWERS);
	if (pid == -ENOSYS)
		return unsupported(c, "it needs a second task, and in this kernel there is one", 0);
	return failed(c, "fork", pid);
}

SLOT(prepare, order(c, JOIN));

OP(op, order(c, GIVE));

static int check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret == -ENOSYS || ret == -EPERM || ret == -EDQUOT || ret == -EACCES)
		return unsupported(c, "no session keyrings for this user", ret);
	if (ret >= 0)
		ret = op(c, 0);
	if (ret < 0)
		return ret;
	/* The parent already has the child's only keyring. */
	return op(c, 0) == -ESTALE ? 0 : failed(c, "keyctl: wrong result", 0);
}

BENCH("keyctl-session", ADMIN, ADMIN, 40, "a child passes its session keyring to its parent",
      .source = "keyctl_session_to_parent(3)", .syscalls = "keyctl write read", .max_batch = 1,
      .composite = 1, .counts_children = 1, .variants = VARIANTS({ "to-parent" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .teardown = teardown);
