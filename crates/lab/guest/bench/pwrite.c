// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: pwrite of 4 KB over the start of a cached file of that size. Nothing
 * to undo.
 */
#include "slots.h"

#define SIZE	4096

static int setup(struct cell *c)
{
	int ret = make_file("file", SIZE);

	if (ret < 0)
		return ret;
	return open_as(c, 0, "file", O_RDWR);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(pwrite64, c->fd[0], slot_data(c), SIZE, 0);
}

static int check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	memset(data, 'y', SIZE);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE)
		return failed(c, "pwrite: wrong result", 0);
	memset(data, 0, SIZE);
	ret = SYS(pread64, c->fd[0], data, DATA_SIZE, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE || data[0] != 'y' || data[SIZE - 1] != 'y')
		return failed(c, "pwrite: wrong result", 0);
	return 0;
}

BENCH("pwrite", READ_WRITE, BEYOND, 19, "pwrite of 4 KB over a cached file",
      .source = "paper section 4.1, class 7; pwrite(2)", .syscalls = "pwrite64",
      .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
