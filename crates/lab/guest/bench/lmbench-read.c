// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

SETUP(lmbench_read_setup, open_as(c, 0, "/dev/zero", O_RDONLY));

OP(lmbench_read_op, sys_read(c->fd[0], slot_data(c), 1));

static int lmbench_read_check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	data[0] = data[1] = 'x';
	ret = lmbench_read_op(c, 0);
	return wrong_if(c, ret, ret != 1 || data[0] != 0 || data[1] != 'x', "read: wrong result");
}

BENCH("lmbench-read", READ_WRITE, LMBENCH, 3, "read of one byte from /dev/zero",
      .source = "LMbench lat_syscall read; LSMPMON Tables 3 and 4: the row "
		"read/write is the mean of lmbench-read and lmbench-write",
      .syscalls = "read", .variants = VARIANTS({ "1B" }),
      .setup = lmbench_read_setup, .check = lmbench_read_check, .op = lmbench_read_op,
      .teardown = close_file);

SETUP(lmbench_write_setup, open_as(c, 0, "/dev/null", O_WRONLY));

OP(lmbench_write_op, sys_write(c->fd[0], slot_data(c), 1));

static int lmbench_write_check(struct cell *c)
{
	long ret = lmbench_write_op(c, 0);

	return wrong_if(c, ret, ret != 1, "write: wrong result");
}

BENCH("lmbench-write", READ_WRITE, LMBENCH, 4, "write of one byte to /dev/null",
      .source = "LMbench lat_syscall write; LSMPMON Tables 3 and 4: the row "
		"read/write is the mean of lmbench-read and lmbench-write",
      .syscalls = "write", .variants = VARIANTS({ "1B" }),
      .setup = lmbench_write_setup, .check = lmbench_write_check, .op = lmbench_write_op,
      .teardown = close_file);
