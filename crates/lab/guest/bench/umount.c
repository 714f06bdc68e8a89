// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: umount of a tmpfs. It waits for a grace period of RCU, in which other tasks of the
 * kernel run: their work counts. Undone outside: mount.
 */
#include <asm/stat.h>
#include "mounts.h"

static int setup(struct cell *c)
{
	return make_mount(c, PLACE);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(umount2, PLACE, 0);
}

static int undo(struct cell *c, unsigned int i)
{
	return mount_tmpfs(PLACE, 0, NULL);
}

static void teardown(struct cell *c)
{
	SYS(umount2, PLACE, 0);
}

static int check(struct cell *c)
{
	struct stat *before = (struct stat *)slot_data(c), *after = before + 1;
	long ret = SYS(stat, PLACE, before);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret >= 0)
		ret = SYS(stat, PLACE, after);
	if (ret < 0)
		return ret;
	return before->st_dev != after->st_dev ? undo(c, 0) : failed(c, "umount: wrong result", 0);
}

BENCH("umount", ADMIN, ADMIN, 22, "umount of an empty tmpfs",
      .syscalls = "umount2", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "tmpfs" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
