// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: memfd_create. Undone outside: close. */
#include <linux/memfd.h>
#include "slots.h"

static long op(struct cell *c, unsigned int i)
{
	long fd = SYS(memfd_create, "lsmeter", MFD_CLOEXEC);

	*slot_fd(c, i) = fd;
	return fd;
}

static int undo(struct cell *c, unsigned int i)
{
	return sys_close(*slot_fd(c, i));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);
	char got = 0;

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no memfd_create", ret);
	if (ret >= 0)
		ret = SYS(pwrite64, *slot_fd(c, 0), "x", 1, 0);
	if (ret >= 0)
		ret = SYS(pread64, *slot_fd(c, 0), &got, 1, 0);
	if (ret < 0)
		return ret;
	return got == 'x' ? undo(c, 0) : failed(c, "memfd_create: wrong result", 0);
}

BENCH("memfd_create", IPC, IPC, 18, "memfd_create of an empty file",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "empty" }),
      .check = check, .op = op, .undo = undo);
