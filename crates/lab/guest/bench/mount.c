// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/stat.h>
#include "mounts.h"

#define OTHER	"other"

static struct stat *stat_of(struct cell *c, unsigned int n)
{
	return (struct stat *)slot_data(c) + n;
}

SETUP(mount_setup, sys_mkdir(PLACE, 0755));

OP(mount_op, mount_tmpfs(PLACE, 0, c->variant->path));

SLOT(mount_undo, SYS(umount2, PLACE, 0));

static int mount_check(struct cell *c)
{
	long ret = SYS(stat, PLACE, stat_of(c, 0));

	if (ret >= 0)
		ret = mount_op(c, 0);
	ret = mount_result(c, ret);
	if (ret)
		return ret;
	ret = SYS(stat, PLACE, stat_of(c, 1));
	if (ret >= 0)
		ret = mount_undo(c, 0);
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
      .setup = mount_setup, .check = mount_check, .op = mount_op, .undo = mount_undo);

SETUP(set_up_mount, make_mount(c, PLACE));

/*
 * Measured: umount of a tmpfs. It waits for an RCU grace period, in which other kernel tasks run,
 * and their work counts. Undo: mount.
 */
OP(umount_op, SYS(umount2, PLACE, 0));

SLOT(umount_undo, mount_tmpfs(PLACE, 0, NULL));

static void teardown(struct cell *c)
{
	SYS(umount2, PLACE, 0);
}

static int umount_check(struct cell *c)
{
	struct stat *before = (struct stat *)slot_data(c), *after = before + 1;
	long ret = SYS(stat, PLACE, before);

	if (ret >= 0)
		ret = umount_op(c, 0);
	if (ret >= 0)
		ret = SYS(stat, PLACE, after);
	return wrong_if(c, ret, before->st_dev == after->st_dev, "umount: wrong result") ?:
	       umount_undo(c, 0);
}

BENCH("umount", ADMIN, ADMIN, 22, "umount of an empty tmpfs",
      .syscalls = "umount2", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "tmpfs" }),
      .setup = set_up_mount, .check = umount_check, .op = umount_op, .undo = umount_undo,
      .teardown = teardown);

OP(remount_op, mount_tmpfs(PLACE, MS_REMOUNT, NULL));

static int remount_check(struct cell *c)
{
	long ret = mount_tmpfs(PLACE, MS_REMOUNT | MS_RDONLY, NULL);

	if (ret < 0)
		return ret;
	if (sys_mkdir(PLACE "/dir", 0755) != -EROFS)
		return failed(c, "mount: wrong result", 0);
	ret = remount_op(c, 0);
	return ret < 0 ? ret : sys_mkdir(PLACE "/dir", 0755);
}

BENCH("remount", ADMIN, ADMIN, 6, "remount of a tmpfs with its current flags",
      .source = "mount(2)", .syscalls = "mount", .variants = VARIANTS({ "tmpfs" }),
      .setup = set_up_mount, .check = remount_check, .op = remount_op, .teardown = teardown);

static long move(const char *from, const char *to)
{
	return SYS(move_mount, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int move_mount_setup(struct cell *c)
{
	long ret = sys_mkdir(OTHER, 0755);

	return ret < 0 ? ret : make_mount(c, PLACE);
}

/* Measured: move_mount of a tmpfs to another directory. Undo: moved back. */
OP(move_mount_op, move(PLACE, OTHER));

SLOT(move_mount_undo, move(OTHER, PLACE));

static int move_mount_check(struct cell *c)
{
	struct stat *before = (struct stat *)slot_data(c), *after = before + 1;
	long ret = SYS(stat, PLACE, before);

	if (ret >= 0)
		ret = move_mount_op(c, 0);
	if (ret == -EINVAL || ret == -ENOSYS)
		return unsupported(c, "mounts are shared here, or it is not in this kernel", ret);
	if (ret >= 0)
		ret = SYS(stat, OTHER, after);
	return wrong_if(c, ret, before->st_dev != after->st_dev, "move_mount: wrong result") ?:
	       move_mount_undo(c, 0);
}

BENCH("move_mount", ADMIN, ADMIN, 12, "move_mount of a tmpfs to another directory",
      .max_batch = 1, .variants = VARIANTS({ "tmpfs" }),
      .setup = move_mount_setup, .check = move_mount_check, .op = move_mount_op,
      .undo = move_mount_undo, .teardown = teardown);
