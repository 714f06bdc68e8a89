// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: chroot into a directory. Undo: chroot back, by a descriptor of the old root. */
#include "mounts.h"

static int setup(struct cell *c)
{
	int ret = make_dirs(PLACE "/");

	if (ret >= 0)
		ret = make_file(PLACE "/inside", 0);
	return ret < 0 ? ret : remember_root(c);
}

OP(op, SYS(chroot, PLACE));

SLOT(undo, go_back(c));

static int check(struct cell *c)
{
	long ret = op(c, 0), fd;

	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_SYS_CHROOT", ret);
	if (ret < 0)
		return ret;
	fd = sys_open("/inside", O_RDONLY | O_CLOEXEC, 0);
	ret = undo(c, 0);
	if (fd < 0)
		return failed(c, "chroot: wrong root", fd);
	sys_close(fd);
	return ret;
}

static void teardown(struct cell *c)
{
	forget_root(c);
}

BENCH("chroot", ADMIN, ADMIN, 10, "chroot into a directory",
      .max_batch = 1, .variants = VARIANTS({ "directory" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
