// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: io_uring_setup of a ring of one entry. `sqpoll`: with the polling kernel thread of an
 * existing ring, so that no thread is created. Undo: close, then a pause in which the ring's memory
 * is freed and the thread goes back to sleep.
 */
#include <linux/io_uring.h>
#include "../child.h"

#define RING		0	/* c->fd[] */
#define SHARED		1	/* the ring that owns the thread */
#define SQPOLL		1	/* arg of variants */
#define IDLE_MS		1	/* idle time before the thread sleeps */
#define REST_NS		60000000

static struct io_uring_params *params(struct cell *c)
{
	return (struct io_uring_params *)slot_data(c);
}

/* Rests only in a machine, whose clock is virtual; elsewhere nothing is counted. */
static void rest(void)
{
	struct timespec time = { 0, REST_NS };

	if (SYS(getpid) == 1)
		SYS(nanosleep, &time, NULL);
}

static long ring(struct cell *c)
{
	return SYS(io_uring_setup, 1, params(c));
}

/* The kernel writes its answer into the parameters. */
static int prepare(struct cell *c, unsigned int i)
{
	memset(params(c), 0, sizeof(*params(c)));
	if (c->variant->arg == SQPOLL) {
		params(c)->flags = IORING_SETUP_SQPOLL | IORING_SETUP_ATTACH_WQ;
		params(c)->wq_fd = c->fd[SHARED];
		params(c)->sq_thread_idle = IDLE_MS;
	}
	return 0;
}

static int setup(struct cell *c)
{
	long fd;

	if (c->variant->arg != SQPOLL)
		return 0;
	params(c)->flags = IORING_SETUP_SQPOLL;
	params(c)->sq_thread_idle = IDLE_MS;
	fd = ring(c);
	if (fd == -ENOSYS || fd == -EPERM)
		return unsupported(c, "no io_uring with such threads here", fd);
	if (fd < 0)
		return failed(c, "io_uring_setup", fd);
	c->fd[SHARED] = fd;
	rest();
	return 0;
}

OP(op, c->fd[RING] = ring(c));

static int undo(struct cell *c, unsigned int i)
{
	long ret = sys_close(c->fd[RING]);

	rest();
	return ret;
}

static int check(struct cell *c)
{
	long ret;

	prepare(c, 0);
	ret = op(c, 0);
	if (ret == -ENOSYS || ret == -EPERM)
		return unsupported(c, "no io_uring here", ret);
	if (ret < 0)
		return ret;
	if (params(c)->sq_entries != 1 || !params(c)->cq_off.cqes)
		return failed(c, "io_uring_setup: wrong result", 0);
	/* No operation to submit; for `sqpoll` the thread submits. */
	if (SYS(io_uring_enter, c->fd[RING], 0, 0, 0, NULL, 0))
		return failed(c, "io_uring_enter: wrong result", 0);
	return undo(c, 0);
}

static void teardown(struct cell *c)
{
	if (c->variant->arg != SQPOLL)
		return;
	close_as(c, SHARED);
	rest();
}

BENCH("io_uring_setup", IPC, IPC, 34, "io_uring_setup of a ring of one entry",
      .max_batch = 1, .variants = VARIANTS({ "plain" }, { "sqpoll", .arg = SQPOLL }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
