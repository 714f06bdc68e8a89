// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: mknod of a FIFO or of a regular file, the types that need no privilege. Undo: unlink.
 */
#include <asm/stat.h>
#include "slots.h"

SETUP(setup, slots_name(c, "AA/"));

OP(op, SYS(mknod, slot_name(c, i), c->variant->arg | 0644, 0));

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = op(c, 0);

	if (is_missing(ret) || ret == -EPERM)
		return unsupported(c, "no such nodes on this file system", ret);
	if (ret < 0)
		return ret;
	ret = SYS(lstat, slot_name(c, 0), st);
	return wrong_if(c, ret, (st->st_mode & S_IFMT) != (unsigned int)c->variant->arg,
			"mknod: wrong result") ?: slot_unlink(c, 0);
}

BENCH("mknod", FILE, BEYOND, 11, "mknod of a FIFO or of a regular file",
      .max_batch = MAX_SLOTS,
      .variants = VARIANTS({ "fifo", .arg = S_IFIFO }, { "file", .arg = S_IFREG }),
      .setup = setup, .check = check, .op = op, .undo = slot_unlink);
