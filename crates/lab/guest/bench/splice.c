// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: splice of a page of a file into a pipe, and out of it into /dev/null. The file lies
 * in the cache. Nothing to undo.
 */
#include "slots.h"

#define OUT	0	/* c->fd[]: of the pipe */
#define IN	1
#define FILE	2
#define SINK	3

static void teardown(struct cell *c)
{
	unsigned int n;

	for (n = OUT; n <= SINK; n++)
		close_as(c, n);
}

static int setup(struct cell *c)
{
	int ret = make_file("file", PAGE_SIZE);

	if (!ret)
		ret = SYS(pipe2, c->fd, O_CLOEXEC);
	if (!ret)
		ret = open_as(c, FILE, "file", O_RDONLY);
	if (!ret)
		ret = open_as(c, SINK, "/dev/null", O_WRONLY);
	if (ret)
		teardown(c);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	s64 begin = 0;
	long ret = SYS(splice, c->fd[FILE], &begin, c->fd[IN], NULL, PAGE_SIZE, 0);

	return ret < 0 ? ret : SYS(splice, c->fd[OUT], NULL, c->fd[SINK], NULL, PAGE_SIZE, 0);
}

static int check(struct cell *c)
{
	s64 begin = 0;
	long ret = SYS(splice, c->fd[FILE], &begin, c->fd[IN], NULL, PAGE_SIZE, 0);

	if (ret < 0)
		return ret;
	ret = sys_read(c->fd[OUT], slot_data(c), PAGE_SIZE);
	if (ret != (long)PAGE_SIZE || slot_data(c)[PAGE_SIZE - 1] != 'x')
		return failed(c, "splice: wrong result", ret);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	return ret == (long)PAGE_SIZE ? 0 : failed(c, "splice: wrong length", 0);
}

BENCH("splice", MESSAGE, IPC, 21, "splice of 4 KB of a file into a pipe, and out of it",
      .syscalls = "splice splice", .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
