// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: creat of a new file, one write of its contents unless it stays
 * empty, close. Undone outside: unlink.
 */
#include <asm/stat.h>
#include "slots.h"

static int setup(struct cell *c)
{
	return slots_name(c, "lat_fs/");
}

static long op(struct cell *c, unsigned int i)
{
	long fd, ret = 0;

	fd = SYS(creat, slot_name(c, i), 0666);
	if (fd < 0)
		return fd;
	if (c->variant->arg)
		ret = sys_write(fd, slot_data(c), c->variant->arg);
	sys_close(fd);
	return ret;
}

static int undo(struct cell *c, unsigned int i)
{
	return sys_unlink(slot_name(c, i));
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret;

	ret = op(c, 0);
	if (ret < 0)
		return ret;
	ret = SYS(stat, slot_name(c, 0), st);
	if (ret < 0)
		return ret;
	if (!S_ISREG(st->st_mode) || st->st_size != c->variant->arg)
		return failed(c, "create: wrong result", 0);
	return undo(c, 0);
}

BENCH("lmbench-create", FILE, LMBENCH, 5,
      "creat of a new file, write of its contents (10KB only), close",
      .source = "LMbench lat_fs; LSMPMON Tables 3 and 4, rows 0 KB and 10 KB file create",
      .syscalls = "creat write close", .max_batch = MAX_SLOTS,
      .variants = VARIANTS({ "0KB", .arg = 0 }, { "10KB", .arg = 10 * 1024 }),
      .setup = setup, .check = check, .op = op, .undo = undo);
