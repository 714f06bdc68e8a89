// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: a write into a pipe and the read at its other end, by one task. Nothing to undo. */
#include "slots.h"

#define KB	1024
#define OUT	0	/* c->fd[]: where the bytes come out */
#define IN	1

static int setup(struct cell *c)
{
	return SYS(pipe2, &c->fd[OUT], O_CLOEXEC);
}

static long op(struct cell *c, unsigned int i)
{
	long ret = sys_write(c->fd[IN], c->buffer, c->variant->arg);

	return ret < 0 ? ret : sys_read(c->fd[OUT], c->buffer, c->variant->arg);
}

static int check(struct cell *c)
{
	long ret;

	c->buffer[0] = 'x';
	c->buffer[c->variant->arg - 1] = 'x';
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != c->variant->arg || c->buffer[0] != 'x' || c->buffer[ret - 1] != 'x')
		return failed(c, "read: wrong result", 0);
	return 0;
}

static void teardown(struct cell *c)
{
	close_as(c, IN);
	close_as(c, OUT);
}

BENCH("pipe-message", MESSAGE, IPC, 2,
      "a write into a pipe, and the read at its other end by the same task",
      .source = "LMbench lat_pipe, without a switch of tasks; pipe(7)", .syscalls = "write read",
      .measures = MEASURE_LATENCY | MEASURE_THROUGHPUT,
      .variants = VARIANTS({ "1B", .arg = 1 }, { "1KB", .arg = KB }, { "64KB", .arg = 64 * KB }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
