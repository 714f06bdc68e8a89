// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/stat.h>
#include "slots.h"

SETUP(setup, slots_name(c, "lat_fs/"));

/*
 * Measured: creat of a new file, one write of its contents unless it stays empty, close. Undo:
 * unlink.
 */
static long lmbench_create_op(struct cell *c, unsigned int i)
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

static int lmbench_create_check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret;

	ret = lmbench_create_op(c, 0);
	if (ret < 0)
		return ret;
	ret = SYS(stat, slot_name(c, 0), st);
	return wrong_if(c, ret, !S_ISREG(st->st_mode) || st->st_size != c->variant->arg,
			"create: wrong result") ?: slot_unlink(c, 0);
}

BENCH("lmbench-create", FILE, LMBENCH, 5,
      "creat of a new file, write of its contents (10KB only), close",
      .source = "LMbench lat_fs; LSMPMON Tables 3 and 4, rows 0 KB and 10 KB file create",
      .syscalls = "creat write close", .max_batch = MAX_SLOTS,
      .variants = VARIANTS({ "0KB", .arg = 0 }, { "10KB", .arg = 10 * 1024 }),
      .setup = setup, .check = lmbench_create_check, .op = lmbench_create_op, .undo = slot_unlink);

static int prepare(struct cell *c, unsigned int i)
{
	long fd, ret = 0;

	fd = SYS(creat, slot_name(c, i), 0666);
	if (fd < 0)
		return fd;
	if (c->variant->arg) {
		ret = sys_write(fd, slot_data(c), c->variant->arg);
		if (ret >= 0 && ret != c->variant->arg)
			ret = -ENOSPC;
	}
	sys_close(fd);
	return ret < 0 ? ret : 0;
}

/* Measured: unlink of a file's only name. prepare() makes the file as lmbench-create does. */
OP(lmbench_delete_op, sys_unlink(slot_name(c, i)));

static int lmbench_delete_check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret < 0)
		return ret;
	ret = lmbench_delete_op(c, 0);
	if (ret < 0)
		return ret;
	ret = SYS(access, slot_name(c, 0), 0);
	return ret == -ENOENT ? 0 : failed(c, "delete: wrong result", 0);
}

BENCH("lmbench-delete", LINK, LMBENCH, 6, "unlink of a file of 0 or 10 KB",
      .source = "LMbench lat_fs; LSMPMON Tables 3 and 4, rows 0 KB and 10 KB file delete",
      .syscalls = "unlink", .max_batch = MAX_SLOTS,
      .variants = VARIANTS({ "0KB", .arg = 0 }, { "10KB", .arg = 10 * 1024 }),
      .setup = setup, .check = lmbench_delete_check, .prepare = prepare, .op = lmbench_delete_op);
