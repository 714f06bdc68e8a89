// SPDX-License-Identifier: GPL-2.0-or-later
#include "mounts.h"

#define GROUP	PLACE "/lsmeter-group"

static int setup(struct cell *c)
{
	long ret = sys_mkdir(PLACE, 0755);

	if (ret < 0)
		return ret;
	ret = SYS(mount, PADDED_NAME, PLACE, "cgroup2", 0, NULL);
	return ret == -EBUSY ? unsupported(c, "control groups of version 1 are in use", ret) :
	       mount_result(c, ret);
}

OP(op, sys_mkdir(GROUP, 0755));

SLOT(undo, sys_rmdir(GROUP));

static void teardown(struct cell *c)
{
	SYS(umount2, PLACE, 0);
}

static int check(struct cell *c)
{
	long ret = op(c, 0), fd;

	if (ret == -EROFS || ret == -EACCES || ret == -EPERM)
		return unsupported(c, "no control groups for this user to make", ret);
	if (ret < 0)
		return ret;
	fd = sys_open(GROUP "/cgroup.procs", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return failed(c, "mkdir: no control group", fd);
	sys_close(fd);
	return undo(c, 0);
}

BENCH("cgroup-mkdir", ADMIN, ADMIN, 17, "mkdir of a control group",
      .source = "cgroups(7)", .syscalls = "mkdir", .max_batch = 1,
      .variants = VARIANTS({ "cgroup2" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
