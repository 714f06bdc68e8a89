// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: write of one byte to /dev/null. Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	return open_as(c, 0, "/dev/null", O_WRONLY);
}

static long op(struct cell *c, unsigned int i)
{
	return sys_write(c->fd[0], slot_data(c), 1);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	return ret == 1 ? 0 : failed(c, "write: wrong result", 0);
}

BENCH("lmbench-write", READ_WRITE, LMBENCH, 4, "write of one byte to /dev/null",
      .source = "LMbench lat_syscall write; LSMPMON Tables 3 and 4: the row "
		"read/write is the mean of lmbench-read and lmbench-write",
      .syscalls = "write", .variants = VARIANTS({ "1B" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
