// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: mount of an empty tmpfs, also with options of its own. Undone outside: umount2. */
#include <asm/stat.h>
#include "mounts.h"

static struct stat *stat_of(struct cell *c, unsigned int n)
{
	return (struct stat *)slot_data(c) + n;
}

static int setup(struct cell *c)
{
	return sys_mkdir(PLACE, 0755);
}

static long op(struct cell *c, unsigned int i)
{
	return mount_tmpfs(PLACE, 0, c->variant->path);
}

static int undo(struct cell *c, unsigned int i)
{
	return SYS(umount2, PLACE, 0);
}

static int check(struct cell *c)
{
	long ret = SYS(stat, PLACE, stat_of(c, 0));

	if (ret >= 0)
		ret = op(c, 0);
	ret = mount_result(c, ret);
	if (ret)
		return ret;
	ret = SYS(stat, PLACE, stat_of(c, 1));
	if (ret >= 0)
		ret = undo(c, 0);
	if (ret < 0)
		return ret;
	if (stat_of(c, 0)->st_dev == stat_of(c, 1)->st_dev)
		return failed(c, "mount: wrong result", 0);
	if (c->variant->path && (stat_of(c, 1)->st_mode & 07777) != 0700)
		return failed(c, "mount: the option has no effect", 0);
	return 0;
}

BENCH("mount", ADMIN, ADMIN, 5, "mount of an empty tmpfs",
      .max_batch = 1, .variants = VARIANTS({ "tmpfs" }, { "options", .path = "size=1m,mode=0700" }),
      .setup = setup, .check = check, .op = op, .undo = undo);
