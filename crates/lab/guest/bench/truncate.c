// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: truncate of a file of 4096 bytes to 0; each operation of a batch has
 * its own. Undone outside: pwrite through a descriptor that stays open, which
 * fills it again.
 *
 * It stays open because ext4 and xfs write a file out when it is closed after a
 * truncation to nothing (auto_da_alloc): the next truncation would wait for the
 * disk.
 */
#include <asm/stat.h>
#include "slots.h"

#define SIZE	4096

static int setup(struct cell *c)
{
	int ret = slots_name(c, "AA/");

	if (ret < 0)
		return ret;
	ret = slots_make_files(c, SIZE);
	if (ret < 0)
		return ret;
	return slots_open(c, NULL, O_WRONLY);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(truncate, slot_name(c, i), 0);
}

static int undo(struct cell *c, unsigned int i)
{
	long ret = SYS(pwrite64, *slot_fd(c, i), slot_data(c), SIZE, 0);

	if (ret < 0)
		return ret;
	return ret == SIZE ? 0 : -ENOSPC;
}

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret;

	ret = SYS(stat, slot_name(c, 0), st);
	if (ret < 0)
		return ret;
	if (st->st_size != SIZE)
		return failed(c, "truncate: wrong result", 0);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	ret = SYS(stat, slot_name(c, 0), st);
	if (ret < 0)
		return ret;
	if (st->st_size)
		return failed(c, "truncate: wrong result", 0);
	return undo(c, 0);
}

/* Empties the files first, so that closing them writes nothing out. */
static void teardown(struct cell *c)
{
	unsigned int i;

	for (i = 0; i < c->batch; i++)
		op(c, i);
	slots_close(c);
}

BENCH("truncate", ATTR, BEYOND, 8, "truncate of a file of 4 KB to nothing, by path",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = teardown);
