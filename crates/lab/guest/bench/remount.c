// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: mount(MS_REMOUNT) of a tmpfs with the flags that it has. Nothing to undo. */
#include "mounts.h"

static int setup(struct cell *c)
{
	return make_mount(c, PLACE);
}

static long op(struct cell *c, unsigned int i)
{
	return mount_tmpfs(PLACE, MS_REMOUNT, NULL);
}

static int check(struct cell *c)
{
	long ret = mount_tmpfs(PLACE, MS_REMOUNT | MS_RDONLY, NULL);

	if (ret < 0)
		return ret;
	if (sys_mkdir(PLACE "/dir", 0755) != -EROFS)
		return failed(c, "mount: wrong result", 0);
	ret = op(c, 0);
	return ret < 0 ? ret : sys_mkdir(PLACE "/dir", 0755);
}

static void teardown(struct cell *c)
{
	SYS(umount2, PLACE, 0);
}

BENCH("remount", ADMIN, ADMIN, 6, "mount again of a tmpfs with the flags that it has",
      .source = "mount(2)", .syscalls = "mount", .variants = VARIANTS({ "tmpfs" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
