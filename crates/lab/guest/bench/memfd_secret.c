// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: memfd_secret. Undone outside: close. */
#include "slots.h"

static long op(struct cell *c, unsigned int i)
{
	return *slot_fd(c, i) = SYS(memfd_secret, O_CLOEXEC);
}

static int undo(struct cell *c, unsigned int i)
{
	return sys_close(*slot_fd(c, i));
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no memfd_secret, or has not enabled it", ret);
	if (ret < 0)
		return ret;
	ret = SYS(ftruncate, *slot_fd(c, 0), PAGE_SIZE);
	if (ret < 0)
		return failed(c, "ftruncate", ret);
	/* It is there to be mapped: what it holds, no call of a file reads. */
	return sys_read(*slot_fd(c, 0), slot_data(c), 1) == -EINVAL ? undo(c, 0) :
	       failed(c, "memfd_secret: wrong result", 0);
}

BENCH("memfd_secret", IPC, IPC, 36, "memfd_secret of an empty file",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "empty" }),
      .check = check, .op = op, .undo = undo);
