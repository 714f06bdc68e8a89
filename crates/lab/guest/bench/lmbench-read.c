// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: read of one byte from /dev/zero. Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	return open_as(c, 0, "/dev/zero", O_RDONLY);
}

static long op(struct cell *c, unsigned int i)
{
	return sys_read(c->fd[0], slot_data(c), 1);
}

static int check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	data[0] = data[1] = 'x';
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != 1 || data[0] != 0 || data[1] != 'x')
		return failed(c, "read: wrong result", 0);
	return 0;
}

BENCH("lmbench-read", READ_WRITE, LMBENCH, 3, "read of one byte from /dev/zero",
      .source = "LMbench lat_syscall read; LSMPMON Tables 3 and 4: the row "
		"read/write is the mean of lmbench-read and lmbench-write",
      .syscalls = "read", .variants = VARIANTS({ "1B" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
