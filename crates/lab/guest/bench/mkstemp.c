// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: the open call of mkstemp(3), with an unused random name (O_RDWR | O_CREAT | O_EXCL,
 * mode 0600). Undo: close, unlink.
 */
#include <asm/stat.h>
#include "slots.h"

SETUP(setup, slots_name(c, ""));

OP(op, *slot_fd(c, i) = sys_open(slot_name(c, i), O_RDWR | O_CREAT | O_EXCL, 0600));

static int undo(struct cell *c, unsigned int i)
{
	long ret = sys_close(*slot_fd(c, i));

	return ret < 0 ? ret : sys_unlink(slot_name(c, i));
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = op(c, 0);
	int fd = ret;

	if (ret < 0)
		return failed(c, "open", ret);
	ret = op(c, 0);
	if (ret != -EEXIST)
		return failed(c, "open: a name that exists is opened", ret);
	*slot_fd(c, 0) = fd;
	ret = SYS(fstat, fd, st);
	if (ret < 0 || !S_ISREG(st->st_mode) || (st->st_mode & 07777) != 0600)
		return failed(c, "open: not a file of mode 0600", ret);
	return undo(c, 0);
}

BENCH("mkstemp", FILE, BEYOND, 36, "open a new file as mkstemp does; random names",
      .source = "paper section 5.1.2; mkstemp(3)", .syscalls = "open", .max_batch = MAX_FD_SLOTS,
      .variants = VARIANTS({ "random" }),
      .setup = setup, .check = check, .op = op, .undo = undo);
