// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: write of a byte to a pipe whose read end has O_ASYNC and the process as its owner,
 * which gets SIGIO. Undo: takes the blocked signal, and reads the byte.
 */
#include <asm/signal.h>
#include <linux/time.h>
#include "slots.h"

#define READER	0	/* c->fd[] */
#define WRITER	1

static const u64 mask = 1ull << (SIGIO - 1);

/* It must be pending already. */
static long take_signal(void)
{
	struct timespec now = { 0, 0 };

	return SYS(rt_sigtimedwait, &mask, NULL, &now, sizeof(mask));
}

static void teardown(struct cell *c)
{
	close_as(c, READER);
	close_as(c, WRITER);
	SYS(rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(mask));
}

static int setup(struct cell *c)
{
	long self = SYS(getpid), err = SYS(pipe2, c->fd, O_CLOEXEC);

	if (err < 0)
		return failed(c, "pipe2", err);
	SYS(rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof(mask));
	err = SYS(fcntl, c->fd[READER], F_SETOWN, self);
	if (err >= 0)
		err = SYS(fcntl, c->fd[READER], F_SETFL, FASYNC | O_NONBLOCK);
	if (err >= 0)
		return 0;
	teardown(c);
	return failed(c, "fcntl", err);
}

OP(op, sys_write(c->fd[WRITER], "x", 1));

static int undo(struct cell *c, unsigned int i)
{
	long number = take_signal(), ret = sys_read(c->fd[READER], slot_data(c), 1);

	return number < 0 ? number : ret;
}

static int check(struct cell *c)
{
	long ret;

	if (take_signal() != -EAGAIN)
		return failed(c, "rt_sigtimedwait: a signal before the write", 0);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	ret = take_signal();
	if (ret != SIGIO)
		return failed(c, "rt_sigtimedwait: no signal after the write", ret);
	ret = sys_read(c->fd[READER], slot_data(c), 1);
	return ret == 1 && *slot_data(c) == 'x' ? 0 : failed(c, "read: wrong byte", ret);
}

BENCH("sigio", SIGNAL, IPC, 37, "write to a pipe whose reader gets SIGIO",
      .source = "fcntl(2)", .syscalls = "write", .max_batch = 1, .variants = VARIANTS({ "pipe" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
