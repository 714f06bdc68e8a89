// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a tmpfs mounted as mount(8) does today: fsopen, two fsconfig (an option, create),
 * fsmount, move_mount. Undo: close of both descriptors, umount2.
 */
#include <asm/stat.h>
#include "mounts.h"

enum { CONTEXT, MOUNT };	/* c->fd[] */

SETUP(setup, sys_mkdir(PLACE, 0755));

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(fsopen, "tmpfs", FSOPEN_CLOEXEC);

	if (ret < 0)
		return ret;
	c->fd[CONTEXT] = ret;
	ret = SYS(fsconfig, c->fd[CONTEXT], FSCONFIG_SET_STRING, "mode", "0700", 0);
	if (ret < 0)
		return ret;
	ret = SYS(fsconfig, c->fd[CONTEXT], FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	if (ret < 0)
		return ret;
	ret = SYS(fsmount, c->fd[CONTEXT], FSMOUNT_CLOEXEC, 0);
	if (ret < 0)
		return ret;
	c->fd[MOUNT] = ret;
	return SYS(move_mount, c->fd[MOUNT], "", AT_FDCWD, PLACE, MOVE_MOUNT_F_EMPTY_PATH);
}

static int undo(struct cell *c, unsigned int i)
{
	close_as(c, CONTEXT);
	close_as(c, MOUNT);
	return SYS(umount2, PLACE, 0);
}

static void teardown(struct cell *c)
{
	close_as(c, CONTEXT);
	close_as(c, MOUNT);
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = op(c, 0);

	if (ret < 0)
		return mount_result(c, ret);
	ret = SYS(stat, PLACE, st);
	if (ret < 0)
		return ret;
	return (st->st_mode & 07777) == 0700 ? undo(c, 0) : failed(c, "fsmount: wrong mode", 0);
}

BENCH("fsmount", ADMIN, ADMIN, 13, "a tmpfs mounted as by mount(8) today",
      .source = "fsopen(2), fsconfig(2), fsmount(2), move_mount(2)",
      .syscalls = "fsopen fsconfig fsconfig fsmount move_mount", .max_batch = 1,
      .variants = VARIANTS({ "tmpfs" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
