// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

static int lmbench_read_setup(struct cell *c)
{
	return open_as(c, 0, "/dev/zero", O_RDONLY);
}

/* Window: read of one byte from /dev/zero. Nothing to undo. */
static long lmbench_read_op(struct cell *c, unsigned int i)
{
	return sys_read(c->fd[0], slot_data(c), 1);
}

static int lmbench_read_check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	data[0] = data[1] = 'x';
	ret = lmbench_read_op(c, 0);
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
      .setup = lmbench_read_setup, .check = lmbench_read_check, .op = lmbench_read_op,
      .teardown = close_file);

static int lmbench_write_setup(struct cell *c)
{
	return open_as(c, 0, "/dev/null", O_WRONLY);
}

/* Window: write of one byte to /dev/null. Nothing to undo. */
static long lmbench_write_op(struct cell *c, unsigned int i)
{
	return sys_write(c->fd[0], slot_data(c), 1);
}

static int lmbench_write_check(struct cell *c)
{
	long ret = lmbench_write_op(c, 0);

	if (ret < 0)
		return ret;
	return ret == 1 ? 0 : failed(c, "write: wrong result", 0);
}

BENCH("lmbench-write", READ_WRITE, LMBENCH, 4, "write of one byte to /dev/null",
      .source = "LMbench lat_syscall write; LSMPMON Tables 3 and 4: the row "
		"read/write is the mean of lmbench-read and lmbench-write",
      .syscalls = "write", .variants = VARIANTS({ "1B" }),
      .setup = lmbench_write_setup, .check = lmbench_write_check, .op = lmbench_write_op,
      .teardown = close_file);
