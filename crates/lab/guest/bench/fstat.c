// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/stat.h>
#include "slots.h"

SETUP(fstat_setup, make_file("file", 4096) ?: open_as(c, 0, "file", O_RDONLY));

OP(fstat_op, SYS(fstat, c->fd[0], slot_data(c)));

static int fstat_check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = fstat_op(c, 0);

	return wrong_if(c, ret, !S_ISREG(st->st_mode) || st->st_size != 4096,
			"fstat: wrong result");
}

BENCH("fstat", ATTR, BEYOND, 1, "fstat of an open regular file",
      .variants = VARIANTS({ "file" }),
      .setup = fstat_setup, .check = fstat_check, .op = fstat_op, .teardown = close_file);

SETUP(lstat_setup, make_dirs("AA/BB") ?: SYS(symlink, "target", "AA/BB"));

OP(lstat_op, SYS(lstat, "AA/BB", slot_data(c)));

static int lstat_check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = lstat_op(c, 0);

	return wrong_if(c, ret, !S_ISLNK(st->st_mode) || st->st_size != 6, "lstat: wrong result");
}

BENCH("lstat", ATTR, BEYOND, 2, "lstat of a symbolic link",
      .variants = VARIANTS({ "AA/BB", .depth = 2 }),
      .setup = lstat_setup, .check = lstat_check, .op = lstat_op);

SETUP(statx_setup, make_dirs("AA/BB") ?: make_file("AA/BB", 4096));

OP(statx_op, SYS(statx, AT_FDCWD, "AA/BB", 0, STATX_BASIC_STATS, slot_data(c)));

static int statx_check(struct cell *c)
{
	struct statx *stx = (struct statx *)slot_data(c);
	long ret = statx_op(c, 0);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no statx", ret);
	if (ret < 0)
		return ret;
	if ((stx->stx_mask & STATX_SIZE) == 0 || !S_ISREG(stx->stx_mode) ||
	    stx->stx_size != 4096)
		return failed(c, "statx: wrong result", 0);
	return 0;
}

BENCH("statx", ATTR, BEYOND, 3, "statx of a regular file, basic attributes",
      .variants = VARIANTS({ "AA/BB", .depth = 2 }),
      .setup = statx_setup, .check = statx_check, .op = statx_op);
