// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: stat of an empty file three components down, as LMbench stats
 * /usr/tmp/lmbench or /var/tmp/lmbench. Nothing to undo.
 */
#include <asm/stat.h>
#include "slots.h"

static int setup(struct cell *c)
{
	int ret = make_dirs(c->variant->path);

	if (ret < 0)
		return ret;
	return make_file(c->variant->path, 0);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(stat, c->variant->path, slot_data(c));
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret;

	st->st_mode = 0;
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (!S_ISREG(st->st_mode) || st->st_size)
		return failed(c, "stat: wrong result", 0);
	return 0;
}

BENCH("lmbench-stat", ATTR, LMBENCH, 1, "stat of a file three components down",
      .source = "LMbench lat_syscall stat; LSMPMON Tables 3 and 4, row stat", .syscalls = "stat",
      .variants = VARIANTS({ "var/tmp/lmbench", .path = "var/tmp/lmbench", .depth = 3 }),
      .setup = setup, .check = check, .op = op);
