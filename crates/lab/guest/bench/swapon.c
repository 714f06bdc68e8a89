// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: swapon of a 64 KB file, which prepare() syncs. Undo: swapoff. */
#include "slots.h"

#define FILE_SIZE	65536
#define MAGIC		"SWAPSPACE2"	/* at the end of the first page */
#define VERSION_AT	1024		/* after the boot sectors */

/* union swap_header of the kernel's include/linux/swap.h, which it does not export */
static int make_header(struct cell *c)
{
	u32 *info = (u32 *)(slot_data(c) + VERSION_AT);
	long ret;

	info[0] = 1;				/* version */
	info[1] = FILE_SIZE / PAGE_SIZE - 1;	/* last page */
	memcpy(slot_data(c) + PAGE_SIZE - strlen(MAGIC), MAGIC, strlen(MAGIC));
	ret = SYS(pwrite64, c->fd[0], slot_data(c), PAGE_SIZE, 0);
	return ret < 0 ? ret : SYS(fsync, c->fd[0]);
}

OP(op, SYS(swapon, "file", 0));

SLOT(undo, SYS(swapoff, "file"));

static int setup(struct cell *c)
{
	int ret = make_file("file", FILE_SIZE);

	if (!ret)
		ret = SYS(chmod, "file", 0600);
	if (ret >= 0)
		ret = open_as(c, 0, "file", O_WRONLY | O_CLOEXEC);
	if (ret >= 0)
		ret = make_header(c);
	close_as(c, 0);
	return ret;
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -EPERM || ret == -ENOSYS)
		return unsupported(c, "no swap here, or not for this user", ret);
	if (ret == -EINVAL)
		return unsupported(c, "this file system has no files to swap to", ret);
	if (ret < 0)
		return ret;
	ret = op(c, 0);
	return ret == -EBUSY ? undo(c, 0) : failed(c, "swapon: wrong result", ret);
}

BENCH("swapon", ADMIN, ADMIN, 25, "swapon of a file",
      .max_batch = 1, .variants = VARIANTS({ "file" }),
      .setup = setup, .check = check, .op = op, .undo = undo);
