// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: close of a file's last descriptor. prepare() opens the file. */
#include "slots.h"

SETUP(setup, make_file("file", 0));

static int prepare(struct cell *c, unsigned int i)
{
	long fd = sys_open("file", O_RDONLY, 0);

	*slot_fd(c, i) = fd;
	return fd < 0 ? fd : 0;
}

OP(op, sys_close(*slot_fd(c, i)));

static int check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret < 0)
		return failed(c, "open", ret);
	ret = op(c, 0);
	if (ret < 0)
		return failed(c, "close", ret);
	ret = op(c, 0);
	return ret == -EBADF ? 0 : failed(c, "close: the descriptor is still there", ret);
}

BENCH("close", DESCRIPTOR, BEYOND, 34, "close a file's last descriptor",
      .source = "paper Table 7; close(2)", .max_batch = MAX_FD_SLOTS,
      .variants = VARIANTS({ "file" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op);
