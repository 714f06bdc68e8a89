// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

#define KB	1024
#define OUT	0	/* c->fd[]: the read end */
#define IN	1

/* Measured: pipe2. Undo: close of both ends. A slot's two descriptors are adjacent. */
OP(pipe2_op, SYS(pipe2, slot_fd(c, 2 * i), O_CLOEXEC));

static int pipe2_check(struct cell *c)
{
	long ret = pipe2_op(c, 0);
	char got = 0;

	if (ret < 0)
		return ret;
	ret = sys_write(*slot_fd(c, 1), "x", 1);
	if (ret == 1)
		ret = sys_read(*slot_fd(c, 0), &got, 1);
	return wrong_if(c, ret, got != 'x', "pipe2: wrong result") ?: slot_close_two(c, 0);
}

BENCH("pipe2", IPC, IPC, 1, "pipe2 of a new pipe",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "pair" }),
      .check = pipe2_check, .op = pipe2_op, .undo = slot_close_two);

SETUP(setup, SYS(pipe2, &c->fd[OUT], O_CLOEXEC));

static long pipe_message_op(struct cell *c, unsigned int i)
{
	long ret = sys_write(c->fd[IN], c->buffer, c->variant->arg);

	return ret < 0 ? ret : sys_read(c->fd[OUT], c->buffer, c->variant->arg);
}

static int pipe_message_check(struct cell *c)
{
	long ret;

	c->buffer[0] = 'x';
	c->buffer[c->variant->arg - 1] = 'x';
	ret = pipe_message_op(c, 0);
	return wrong_if(c, ret,
			ret != c->variant->arg || c->buffer[0] != 'x' || c->buffer[ret - 1] != 'x',
			"read: wrong result");
}

static void teardown(struct cell *c)
{
	close_as(c, IN);
	close_as(c, OUT);
}

BENCH("pipe-message", MESSAGE, IPC, 2,
      "a write into a pipe, and a read from it by the same task",
      .source = "LMbench lat_pipe, without a switch of tasks; pipe(7)", .syscalls = "write read",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
      .variants = VARIANTS({ "1B", .arg = 1 }, { "1KB", .arg = KB }, { "64KB", .arg = 64 * KB }),
      .setup = setup, .check = pipe_message_check, .op = pipe_message_op, .teardown = teardown);
