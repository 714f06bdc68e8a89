// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/memfd.h>
#include "slots.h"

static long memfd_create_op(struct cell *c, unsigned int i)
{
	long fd = SYS(memfd_create, PADDED_NAME, MFD_CLOEXEC);

	*slot_fd(c, i) = fd;
	return fd;
}

static int memfd_create_check(struct cell *c)
{
	long ret = memfd_create_op(c, 0);
	char got = 0;

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no memfd_create", ret);
	if (ret >= 0)
		ret = SYS(pwrite64, *slot_fd(c, 0), "x", 1, 0);
	if (ret >= 0)
		ret = SYS(pread64, *slot_fd(c, 0), &got, 1, 0);
	return wrong_if(c, ret, got != 'x', "memfd_create: wrong result") ?: slot_close(c, 0);
}

BENCH("memfd_create", IPC, IPC, 18, "memfd_create of an empty file",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "empty" }),
      .check = memfd_create_check, .op = memfd_create_op, .undo = slot_close);

OP(memfd_secret_op, *slot_fd(c, i) = SYS(memfd_secret, O_CLOEXEC));

static int memfd_secret_check(struct cell *c)
{
	long ret = memfd_secret_op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no memfd_secret, or has not enabled it", ret);
	if (ret < 0)
		return ret;
	ret = SYS(ftruncate, *slot_fd(c, 0), PAGE_SIZE);
	if (ret < 0)
		return failed(c, "ftruncate", ret);
	/* The file can only be mapped; file calls cannot read its contents. */
	return sys_read(*slot_fd(c, 0), slot_data(c), 1) == -EINVAL ? slot_close(c, 0) :
	       failed(c, "memfd_secret: wrong result", 0);
}

BENCH("memfd_secret", IPC, IPC, 36, "memfd_secret of an empty file",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "empty" }),
      .check = memfd_secret_check, .op = memfd_secret_op, .undo = slot_close);
