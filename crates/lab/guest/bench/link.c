// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/stat.h>
#include "slots.h"

static int setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");

	if (ret < 0)
		return ret;
	return make_file("AA/BB", 0) ?: slots_name(c, "AA/");
}

OP(op, SYS(link, "AA/BB", slot_name(c, i)));

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = op(c, 0);

	if (is_missing(ret) || ret == -EPERM)
		return unsupported(c, "no hard links on this file system", ret);
	if (ret < 0)
		return ret;
	ret = SYS(stat, slot_name(c, 0), st);
	if (ret < 0)
		return ret;
	if (st->st_nlink != 2)
		return failed(c, "link: wrong result", 0);
	ret = slot_unlink(c, 0);
	if (ret < 0)
		return ret;
	ret = SYS(stat, "AA/BB", st);
	return wrong_if(c, ret, st->st_nlink != 1, "link: wrong result");
}

BENCH("link", LINK, BEYOND, 5, "link of a file under a new name in its directory",
      .max_batch = MAX_SLOTS, .variants = VARIANTS({ "AA/BB", .depth = 2 }),
      .setup = setup, .check = check, .op = op, .undo = slot_unlink);
