// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

#define SIZE	4096
#define OUT	0	/* c->fd[]: read end of the pipe */
#define IN	1
#define FILE	2
#define SINK	3

static int sendfile_setup(struct cell *c)
{
	int ret = make_file("from", SIZE);

	if (ret < 0)
		return ret;
	ret = make_file("to", 0) ?: open_as(c, 0, "from", O_RDONLY);
	if (ret < 0)
		return ret;
	ret = slots_open(c, "to", O_RDWR);
	if (ret < 0)
		close_as(c, 0);
	return ret;
}

SLOT(prepare, SYS(lseek, *slot_fd(c, i), 0, 0));

/*
 * Measured: sendfile of 4 KB from one cached file over another of that size. Each operation of a
 * batch has its own output descriptor; prepare() seeks to the start.
 */
static long sendfile_op(struct cell *c, unsigned int i)
{
	s64 offset = 0;

	return SYS(sendfile, *slot_fd(c, i), c->fd[0], &offset, SIZE);
}

static int sendfile_check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	ret = prepare(c, 0);
	if (ret < 0)
		return ret;
	ret = sendfile_op(c, 0);
	if (ret == -EINVAL || is_missing(ret))
		return unsupported(c, "no sendfile on this file system", ret);
	if (ret < 0)
		return ret;
	if (ret != SIZE)
		return failed(c, "sendfile: wrong result", 0);
	memset(data, 0, SIZE);
	ret = SYS(pread64, *slot_fd(c, 0), data, DATA_SIZE, 0);
	return wrong_if(c, ret, ret != SIZE || data[0] != 'x' || data[SIZE - 1] != 'x',
			"sendfile: wrong result");
}

static void sendfile_teardown(struct cell *c)
{
	slots_close(c);
	close_as(c, 0);
}

BENCH("sendfile", READ_WRITE, BEYOND, 22, "sendfile of 4 KB from one cached file over another",
      .max_batch = MAX_FD_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = sendfile_setup, .check = sendfile_check, .prepare = prepare, .op = sendfile_op,
      .teardown = sendfile_teardown);

static void splice_teardown(struct cell *c)
{
	unsigned int n;

	for (n = OUT; n <= SINK; n++)
		close_as(c, n);
}

static int splice_setup(struct cell *c)
{
	int ret = make_file("file", PAGE_SIZE);

	if (!ret)
		ret = SYS(pipe2, c->fd, O_CLOEXEC);
	if (!ret)
		ret = open_as(c, FILE, "file", O_RDONLY);
	if (!ret)
		ret = open_as(c, SINK, "/dev/null", O_WRONLY);
	if (ret)
		splice_teardown(c);
	return ret;
}

/*
 * Measured: splice of a page of a cached file into a pipe, and out of it into /dev/null. Nothing to
 * undo.
 */
static long splice_op(struct cell *c, unsigned int i)
{
	s64 begin = 0;
	long ret = SYS(splice, c->fd[FILE], &begin, c->fd[IN], NULL, PAGE_SIZE, 0);

	return ret < 0 ? ret : SYS(splice, c->fd[OUT], NULL, c->fd[SINK], NULL, PAGE_SIZE, 0);
}

static int splice_check(struct cell *c)
{
	s64 begin = 0;
	long ret = SYS(splice, c->fd[FILE], &begin, c->fd[IN], NULL, PAGE_SIZE, 0);

	if (ret < 0)
		return ret;
	ret = sys_read(c->fd[OUT], slot_data(c), PAGE_SIZE);
	if (ret != (long)PAGE_SIZE || slot_data(c)[PAGE_SIZE - 1] != 'x')
		return failed(c, "splice: wrong result", ret);
	ret = splice_op(c, 0);
	return wrong_if(c, ret, ret != (long)PAGE_SIZE, "splice: wrong length");
}

BENCH("splice", MESSAGE, IPC, 21, "splice of 4 KB of a file into a pipe, and out of it",
      .syscalls = "splice splice", .variants = VARIANTS({ "4KB" }),
      .setup = splice_setup, .check = splice_check, .op = splice_op, .teardown = splice_teardown);

static int copy_file_range_setup(struct cell *c)
{
	int ret = make_file("from", SIZE);

	if (ret < 0)
		return ret;
	ret = make_file("to", 0) ?: open_as(c, 0, "from", O_RDONLY);
	if (ret < 0)
		return ret;
	ret = open_as(c, 1, "to", O_RDWR);
	if (ret < 0)
		close_as(c, 0);
	return ret;
}

/*
 * Measured: copy_file_range of 4 KB from one file over another of that size, at explicit offsets.
 * Nothing to undo. File systems that can share extents (btrfs, xfs) do so instead of copying.
 */
static long copy_file_range_op(struct cell *c, unsigned int i)
{
	s64 from = 0, to = 0;

	return SYS(copy_file_range, c->fd[0], &from, c->fd[1], &to, SIZE, 0);
}

static int copy_file_range_check(struct cell *c)
{
	char *data = slot_data(c);
	long ret = copy_file_range_op(c, 0);

	if (ret == -EINVAL || is_missing(ret))
		return unsupported(c, "no copy_file_range on this file system", ret);
	if (ret < 0)
		return ret;
	if (ret != SIZE)
		return failed(c, "copy_file_range: wrong result", 0);
	memset(data, 0, SIZE);
	ret = SYS(pread64, c->fd[1], data, DATA_SIZE, 0);
	return wrong_if(c, ret, ret != SIZE || data[0] != 'x' || data[SIZE - 1] != 'x',
			"copy_file_range: wrong result");
}

static void copy_file_range_teardown(struct cell *c)
{
	close_as(c, 1);
	close_as(c, 0);
}

BENCH("copy_file_range", READ_WRITE, BEYOND, 23,
      "copy_file_range of 4 KB from one cached file over another",
      .variants = VARIANTS({ "4KB" }),
      .setup = copy_file_range_setup, .check = copy_file_range_check, .op = copy_file_range_op,
      .teardown = copy_file_range_teardown);
