// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: pread of 4 KB at the start of a cached file. Nothing to undo. */
#include "slots.h"

#define SIZE	4096

static int setup(struct cell *c)
{
	int ret = make_file("file", SIZE);

	if (ret < 0)
		return ret;
	return open_as(c, 0, "file", O_RDONLY);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(pread64, c->fd[0], slot_data(c), SIZE, 0);
}

static int check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	memset(data, 0, SIZE + 1);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE || data[0] != 'x' || data[SIZE - 1] != 'x' || data[SIZE])
		return failed(c, "pread: wrong result", 0);
	return 0;
}

BENCH("pread", READ_WRITE, BEYOND, 18, "pread of 4 KB from a cached file",
      .source = "paper section 4.1, class 7; pread(2)", .syscalls = "pread64",
      .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
