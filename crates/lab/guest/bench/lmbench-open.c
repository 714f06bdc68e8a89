// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/stat.h>
#include "slots.h"

SETUP(setup, make_dirs(c->variant->path) ?: make_file(c->variant->path, 0));

static long lmbench_open_op(struct cell *c, unsigned int i)
{
	long fd = sys_open(c->variant->path, O_RDONLY, 0);

	if (fd < 0)
		return fd;
	return sys_close(fd);
}

static int lmbench_open_check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long fd, ret;

	fd = sys_open(c->variant->path, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	st->st_mode = 0;
	ret = SYS(fstat, fd, st);
	if (ret >= 0 && (!S_ISREG(st->st_mode) || st->st_size))
		ret = failed(c, "open: wrong result", 0);
	sys_close(fd);
	if (ret < 0)
		return ret;
	return lmbench_open_op(c, 0);
}

BENCH("lmbench-open", FILE, LMBENCH, 2, "open and close of a file three components down",
      .source = "LMbench lat_syscall open; LSMPMON Tables 3 and 4, row open/close",
      .syscalls = "open close",
      .variants = VARIANTS({ "var/tmp/lmbench", .path = "var/tmp/lmbench", .depth = 3 }),
      .setup = setup, .check = lmbench_open_check, .op = lmbench_open_op);

/*
 * Measured: stat of an empty file three components down, like LMbench's stat of /usr/tmp/lmbench or
 * /var/tmp/lmbench. Nothing to undo.
 */
OP(lmbench_stat_op, SYS(stat, c->variant->path, slot_data(c)));

static int lmbench_stat_check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret;

	st->st_mode = 0;
	ret = lmbench_stat_op(c, 0);
	return wrong_if(c, ret, !S_ISREG(st->st_mode) || st->st_size, "stat: wrong result");
}

BENCH("lmbench-stat", ATTR, LMBENCH, 1, "stat of a file three components down",
      .source = "LMbench lat_syscall stat; LSMPMON Tables 3 and 4, row stat", .syscalls = "stat",
      .variants = VARIANTS({ "var/tmp/lmbench", .path = "var/tmp/lmbench", .depth = 3 }),
      .setup = setup, .check = lmbench_stat_check, .op = lmbench_stat_op);
