// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/uio.h>
#include "slots.h"

#define SIZE	4096
#define PARTS	4

static int pread_setup(struct cell *c)
{
	int ret = make_file("file", SIZE);

	return ret < 0 ? ret : open_as(c, 0, "file", O_RDONLY);
}

OP(pread_op, SYS(pread64, c->fd[0], slot_data(c), SIZE, 0));

static int check_read(struct cell *c, long (*op)(struct cell *c, unsigned int i), const char *wrong)
{
	char *data = slot_data(c);
	long ret;

	memset(data, 0, SIZE + 1);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE || data[0] != 'x' || data[SIZE - 1] != 'x' || data[SIZE])
		return failed(c, wrong, 0);
	return 0;
}

SETUP(pread_check, check_read(c, pread_op, "pread: wrong result"));

BENCH("pread", READ_WRITE, BEYOND, 18, "pread of 4 KB from a cached file",
      .source = "paper section 4.1, class 7; pread(2)", .syscalls = "pread64",
      .variants = VARIANTS({ "4KB" }),
      .setup = pread_setup, .check = pread_check, .op = pread_op, .teardown = close_file);

static int pwrite_setup(struct cell *c)
{
	int ret = make_file("file", SIZE);

	return ret < 0 ? ret : open_as(c, 0, "file", O_RDWR);
}

OP(pwrite_op, SYS(pwrite64, c->fd[0], slot_data(c), SIZE, 0));

static int check_write(struct cell *c, long (*op)(struct cell *c, unsigned int i), int fd,
		       const char *wrong)
{
	char *data = slot_data(c);
	long ret;

	memset(data, 'y', SIZE);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE)
		return failed(c, wrong, 0);
	memset(data, 0, SIZE);
	ret = SYS(pread64, fd, data, DATA_SIZE, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE || data[0] != 'y' || data[SIZE - 1] != 'y')
		return failed(c, wrong, 0);
	return 0;
}

SETUP(pwrite_check, check_write(c, pwrite_op, c->fd[0], "pwrite: wrong result"));

BENCH("pwrite", READ_WRITE, BEYOND, 19, "pwrite of 4 KB over a cached file",
      .source = "paper section 4.1, class 7; pwrite(2)", .syscalls = "pwrite64",
      .variants = VARIANTS({ "4KB" }),
      .setup = pwrite_setup, .check = pwrite_check, .op = pwrite_op, .teardown = close_file);

static struct iovec vector[PARTS];

static int set_up_vector(struct cell *c, int flags)
{
	int n, ret = make_file("file", SIZE);

	if (ret < 0)
		return ret;
	for (n = 0; n < PARTS; n++) {
		vector[n].iov_base = slot_data(c) + n * (SIZE / PARTS);
		vector[n].iov_len = SIZE / PARTS;
	}
	return slots_open(c, "file", flags);
}

SETUP(readv_setup, set_up_vector(c, O_RDONLY));

SLOT(prepare, SYS(lseek, *slot_fd(c, i), 0, 0));

/*
 * Measured: readv of 4 KB from a cached file into four buffers of 1 KB. Each operation of a batch
 * has its own descriptor; prepare() seeks to the start.
 */
OP(readv_op, SYS(readv, *slot_fd(c, i), vector, PARTS));

static int readv_check(struct cell *c)
{
	long ret = prepare(c, 0);

	return ret < 0 ? ret : check_read(c, readv_op, "readv: wrong result");
}

BENCH("readv", READ_WRITE, BEYOND, 20, "readv of 4 KB from a cached file into four buffers",
      .max_batch = MAX_FD_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = readv_setup, .check = readv_check, .prepare = prepare, .op = readv_op,
      .teardown = slots_close);

SETUP(writev_setup, set_up_vector(c, O_RDWR));

/*
 * Measured: writev of 4 KB from four buffers of 1 KB over a cached file of that size. Each
 * operation of a batch has its own descriptor; prepare() seeks to the start.
 */
OP(writev_op, SYS(writev, *slot_fd(c, i), vector, PARTS));

static int writev_check(struct cell *c)
{
	long ret = prepare(c, 0);

	return ret < 0 ? ret : check_write(c, writev_op, *slot_fd(c, 0), "writev: wrong result");
}

BENCH("writev", READ_WRITE, BEYOND, 21, "writev of 4 KB from four buffers over a cached file",
      .max_batch = MAX_FD_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = writev_setup, .check = writev_check, .prepare = prepare, .op = writev_op,
      .teardown = slots_close);
