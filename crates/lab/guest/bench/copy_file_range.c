// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: copy_file_range of 4 KB from one file over another of that size, at
 * explicit offsets. Nothing to undo. File systems that can share extents
 * (btrfs, xfs) do so instead of copying.
 */
#include "slots.h"

#define SIZE	4096

static int setup(struct cell *c)
{
	int ret = make_file("from", SIZE);

	if (ret < 0)
		return ret;
	ret = make_file("to", 0);
	if (ret < 0)
		return ret;
	ret = open_as(c, 0, "from", O_RDONLY);
	if (ret < 0)
		return ret;
	ret = open_as(c, 1, "to", O_RDWR);
	if (ret < 0)
		close_as(c, 0);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	s64 from = 0, to = 0;

	return SYS(copy_file_range, c->fd[0], &from, c->fd[1], &to, SIZE, 0);
}

static int check(struct cell *c)
{
	char *data = slot_data(c);
	long ret = op(c, 0);

	if (ret == -EINVAL || is_missing(ret))
		return unsupported(c, "no copy_file_range on this file system", ret);
	if (ret < 0)
		return ret;
	if (ret != SIZE)
		return failed(c, "copy_file_range: wrong result", 0);
	memset(data, 0, SIZE);
	ret = SYS(pread64, c->fd[1], data, DATA_SIZE, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE || data[0] != 'x' || data[SIZE - 1] != 'x')
		return failed(c, "copy_file_range: wrong result", 0);
	return 0;
}

static void teardown(struct cell *c)
{
	close_as(c, 1);
	close_as(c, 0);
}

BENCH("copy_file_range", READ_WRITE, BEYOND, 23,
      "copy_file_range of 4 KB from one cached file over another",
      .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
