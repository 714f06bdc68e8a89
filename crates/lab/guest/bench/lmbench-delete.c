// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: unlink of a file's only name. Made outside, by prepare(): the file,
 * as lmbench-create makes it.
 */
#include "slots.h"

static int setup(struct cell *c)
{
	return slots_name(c, "lat_fs/");
}

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

static long op(struct cell *c, unsigned int i)
{
	return sys_unlink(slot_name(c, i));
}

static int check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret < 0)
		return ret;
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	ret = SYS(access, slot_name(c, 0), 0);
	return ret == -ENOENT ? 0 : failed(c, "delete: wrong result", 0);
}

BENCH("lmbench-delete", LINK, LMBENCH, 6, "unlink of a file of 0 or 10 KB",
      .source = "LMbench lat_fs; LSMPMON Tables 3 and 4, rows 0 KB and 10 KB file delete",
      .syscalls = "unlink", .max_batch = MAX_SLOTS,
      .variants = VARIANTS({ "0KB", .arg = 0 }, { "10KB", .arg = 10 * 1024 }),
      .setup = setup, .check = check, .prepare = prepare, .op = op);
