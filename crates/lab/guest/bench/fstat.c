// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: fstat of an open regular file. Nothing to undo. */
#include <asm/stat.h>
#include "slots.h"

static int setup(struct cell *c)
{
	int ret = make_file("file", 4096);

	if (ret < 0)
		return ret;
	return open_as(c, 0, "file", O_RDONLY);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(fstat, c->fd[0], slot_data(c));
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (!S_ISREG(st->st_mode) || st->st_size != 4096)
		return failed(c, "fstat: wrong result", 0);
	return 0;
}

BENCH("fstat", ATTR, BEYOND, 1, "fstat of an open regular file",
      .variants = VARIANTS({ "file" }),
      .setup = setup, .check = check, .op = op, .teardown = close_file);
