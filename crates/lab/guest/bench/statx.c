// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: statx of a regular file by path. Nothing to undo. */
#include "slots.h"

static int setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");

	if (ret < 0)
		return ret;
	return make_file("AA/BB", 4096);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(statx, AT_FDCWD, "AA/BB", 0, STATX_BASIC_STATS, slot_data(c));
}

static int check(struct cell *c)
{
	struct statx *stx = (struct statx *)slot_data(c);
	long ret = op(c, 0);

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
      .setup = setup, .check = check, .op = op);
