// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: lstat of a symbolic link. Nothing to undo. */
#include <asm/stat.h>
#include "slots.h"

static int setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");

	if (ret < 0)
		return ret;
	return SYS(symlink, "target", "AA/BB");
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(lstat, "AA/BB", slot_data(c));
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (!S_ISLNK(st->st_mode) || st->st_size != 6)
		return failed(c, "lstat: wrong result", 0);
	return 0;
}

BENCH("lstat", ATTR, BEYOND, 2, "lstat of a symbolic link",
      .variants = VARIANTS({ "AA/BB", .depth = 2 }),
      .setup = setup, .check = check, .op = op);
