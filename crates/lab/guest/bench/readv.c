// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: readv of 4 KB from a cached file into four buffers of 1 KB. Each
 * operation of a batch has its own descriptor; made outside, by prepare():
 * lseek to the start.
 */
#include <linux/uio.h>
#include "slots.h"

#define SIZE	4096
#define PARTS	4

static struct iovec vector[PARTS];

static int setup(struct cell *c)
{
	int n, ret = make_file("file", SIZE);

	if (ret < 0)
		return ret;
	for (n = 0; n < PARTS; n++) {
		vector[n].iov_base = slot_data(c) + n * (SIZE / PARTS);
		vector[n].iov_len = SIZE / PARTS;
	}
	return slots_open(c, "file", O_RDONLY);
}

static int prepare(struct cell *c, unsigned int i)
{
	return SYS(lseek, *slot_fd(c, i), 0, 0);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(readv, *slot_fd(c, i), vector, PARTS);
}

static int check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	memset(data, 0, SIZE + 1);
	ret = prepare(c, 0);
	if (ret < 0)
		return ret;
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE || data[0] != 'x' || data[SIZE - 1] != 'x' || data[SIZE])
		return failed(c, "readv: wrong result", 0);
	return 0;
}

BENCH("readv", READ_WRITE, BEYOND, 20, "readv of 4 KB from a cached file into four buffers",
      .max_batch = MAX_FD_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .teardown = slots_close);
