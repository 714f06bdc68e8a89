// SPDX-License-Identifier: GPL-2.0-or-later
/* stat of a path. */
#include <asm/stat.h>
#include "paths.h"

static long op(struct cell *c, unsigned int i)
{
	long err;

	(void)i;
	err = SYS(stat, c->path, c->buffer);
	return err == c->state[0] ? 0 : err;
}

static int check(struct cell *c)
{
	struct stat st;
	long err;

	err = SYS(stat, c->path, &st);
	if (c->state[0])
		return err == c->state[0] ? 0 : failed(c, "stat of a missing file", err);
	if (err < 0)
		return failed(c, "stat", err);
	if (!S_ISREG(st.st_mode) || st.st_size != 0)
		return failed(c, "stat: not the empty file that was made", 0);
	if (!strcmp(c->variant->name, "hardlink") && st.st_nlink != 2)
		return failed(c, "stat: a hard link's count is not 2", 0);
	return 0;
}

BENCH("stat", ATTR, PAPER, 10, "stat a path",
      .source = "LMBench-Hook, Table 3 no. 10, section 4.1; Table 6", .variants = lookup_variants,
      .setup = make_lookup_file, .check = check, .op = op);
