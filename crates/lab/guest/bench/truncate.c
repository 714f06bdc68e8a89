// SPDX-License-Identifier: GPL-2.0-or-later
#include <asm/stat.h>
#include "slots.h"

#define SIZE	4096

static int setup(struct cell *c)
{
	int ret = slots_name(c, "AA/");

	if (ret < 0)
		return ret;
	return slots_make_files(c, SIZE) ?: slots_open(c, NULL, O_WRONLY);
}

/*
 * Measured: truncate of a 4096-byte file to 0; each operation of a batch has its own. Undo: pwrite
 * through an open descriptor, which fills it again.
 *
 * The descriptor stays open because ext4 and xfs write out a file that is closed after a
 * truncation to 0 (auto_da_alloc), and the next truncation would wait for the disk.
 */
OP(truncate_op, SYS(truncate, slot_name(c, i), 0));

static int undo(struct cell *c, unsigned int i)
{
	long ret = SYS(pwrite64, *slot_fd(c, i), slot_data(c), SIZE, 0);

	if (ret < 0)
		return ret;
	return ret == SIZE ? 0 : -ENOSPC;
}

static int check_size(struct cell *c, long size, const char *wrong)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = SYS(stat, slot_name(c, 0), st);

	if (ret < 0)
		return ret;
	return st->st_size == size ? 0 : failed(c, wrong, 0);
}

static int truncate_check(struct cell *c)
{
	static const char wrong[] = "truncate: wrong result";
	long ret = check_size(c, SIZE, wrong);

	if (ret < 0)
		return ret;
	ret = truncate_op(c, 0);
	if (ret >= 0)
		ret = check_size(c, 0, wrong);
	return ret < 0 ? ret : undo(c, 0);
}

/* Empties the files first, so that closing them writes nothing. */
static void teardown(struct cell *c)
{
	unsigned int i;

	for (i = 0; i < c->batch; i++)
		truncate_op(c, i);
	slots_close(c);
}

BENCH("truncate", ATTR, BEYOND, 8, "truncate of a 4 KB file to 0, by path",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = truncate_check, .op = truncate_op, .undo = undo,
      .teardown = teardown);

/*
 * Measured: ftruncate of a 4096-byte file to 0; each operation of a batch has its own file and
 * descriptor. Undo: pwrite, which fills it again. The descriptors stay open for the reason given
 * above.
 */
OP(ftruncate_op, SYS(ftruncate, *slot_fd(c, i), 0));

static int ftruncate_check(struct cell *c)
{
	static const char wrong[] = "ftruncate: wrong result";
	struct stat *st = (struct stat *)slot_data(c);
	long ret = SYS(fstat, *slot_fd(c, 0), st);

	if (ret < 0)
		return ret;
	if (st->st_size != SIZE)
		return failed(c, wrong, 0);
	ret = ftruncate_op(c, 0);
	if (ret >= 0)
		ret = check_size(c, 0, wrong);
	return ret < 0 ? ret : undo(c, 0);
}

BENCH("ftruncate", ATTR, BEYOND, 9, "ftruncate of a 4 KB file to 0",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = ftruncate_check, .op = ftruncate_op, .undo = undo,
      .teardown = teardown);
