// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: fallocate of the first 4096 bytes of an empty file; each operation of a batch has its
 * own file and descriptor. Undo: ftruncate to 0.
 */
#include <asm/stat.h>
#include "slots.h"

#define SIZE	4096

static int setup(struct cell *c)
{
	int ret = slots_name(c, "AA/");

	if (ret < 0)
		return ret;
	return slots_make_files(c, 0) ?: slots_open(c, NULL, O_WRONLY);
}

OP(op, SYS(fallocate, *slot_fd(c, i), 0, 0, SIZE));

SLOT(undo, SYS(ftruncate, *slot_fd(c, i), 0));

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = op(c, 0);

	if (is_missing(ret))
		return unsupported(c, "no fallocate on this file system", ret);
	if (ret < 0)
		return ret;
	ret = SYS(fstat, *slot_fd(c, 0), st);
	return wrong_if(c, ret, st->st_size != SIZE, "fallocate: wrong result") ?: undo(c, 0);
}

BENCH("fallocate", READ_WRITE, BEYOND, 10, "fallocate of 4 KB in an empty file",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = slots_close);
