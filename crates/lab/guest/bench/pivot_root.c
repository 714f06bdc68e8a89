// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: pivot_root into a tmpfs. The agent's root must also be a tmpfs, since the first root of
 * a system cannot be replaced like this. Undo: pivot_root back.
 */
#include "mounts.h"

#define NEW	"new"

static void teardown(struct cell *c)
{
	go_back(c);
	SYS(umount2, PLACE "/" NEW, 0);
	SYS(umount2, PLACE, 0);
	forget_root(c);
}

static int setup(struct cell *c)
{
	int ret = remember_root(c);

	if (ret >= 0)
		ret = make_mount(c, PLACE);
	if (ret >= 0)
		ret = SYS(chdir, PLACE);
	if (ret >= 0)
		ret = make_mount(c, NEW);
	if (ret >= 0)
		ret = sys_mkdir(NEW "/old", 0755);
	if (ret >= 0)
		ret = SYS(chroot, ".");
	if (ret < 0)
		teardown(c);
	return ret;
}

OP(op, SYS(pivot_root, NEW, NEW "/old"));

SLOT(undo, SYS(pivot_root, "old", "old/" NEW));

static int check(struct cell *c)
{
	long ret = op(c, 0), fd;

	if (ret == -EINVAL)
		return unsupported(c, "mounts are shared with other namespaces here", ret);
	if (ret < 0)
		return ret;
	fd = sys_open("/old/" NEW, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	ret = undo(c, 0);
	if (fd < 0)
		return failed(c, "pivot_root: wrong root", fd);
	sys_close(fd);
	return ret;
}

BENCH("pivot_root", ADMIN, ADMIN, 11, "pivot_root into a tmpfs",
      .max_batch = 1, .variants = VARIANTS({ "tmpfs" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
