// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: statfs of a file. Nothing to undo. */
#include <asm/statfs.h>
#include "slots.h"

SETUP(setup, make_file("file", 0));

OP(op, SYS(statfs, "file", slot_data(c)));

static int check(struct cell *c)
{
	struct statfs *st = (struct statfs *)slot_data(c);
	long ret = op(c, 0);

	return wrong_if(c, ret, st->f_bsize <= 0 || SYS(statfs, "missing", st) != -ENOENT,
			"statfs: wrong result");
}

BENCH("statfs", ADMIN, ADMIN, 1, "statfs of a file",
      .variants = VARIANTS({ "file" }),
      .setup = setup, .check = check, .op = op);
