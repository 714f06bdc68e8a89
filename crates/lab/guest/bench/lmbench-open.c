// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: open for reading and close of an empty file three components down.
 * Nothing to undo.
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
	long fd = sys_open(c->variant->path, O_RDONLY, 0);

	if (fd < 0)
		return fd;
	return sys_close(fd);
}

static int check(struct cell *c)
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
	return op(c, 0);
}

BENCH("lmbench-open", FILE, LMBENCH, 2, "open and close of a file three components down",
      .source = "LMbench lat_syscall open; LSMPMON Tables 3 and 4, row open/close",
      .syscalls = "open close",
      .variants = VARIANTS({ "var/tmp/lmbench", .path = "var/tmp/lmbench", .depth = 3 }),
      .setup = setup, .check = check, .op = op);
