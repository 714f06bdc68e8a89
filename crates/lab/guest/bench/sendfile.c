// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: sendfile of 4 KB from one cached file over another of that size.
 * Each operation of a batch has its own output descriptor; made outside, by
 * prepare(): its lseek to the start.
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
	ret = slots_open(c, "to", O_RDWR);
	if (ret < 0)
		close_as(c, 0);
	return ret;
}

static int prepare(struct cell *c, unsigned int i)
{
	return SYS(lseek, *slot_fd(c, i), 0, 0);
}

static long op(struct cell *c, unsigned int i)
{
	s64 offset = 0;

	return SYS(sendfile, *slot_fd(c, i), c->fd[0], &offset, SIZE);
}

static int check(struct cell *c)
{
	char *data = slot_data(c);
	long ret;

	ret = prepare(c, 0);
	if (ret < 0)
		return ret;
	ret = op(c, 0);
	if (ret == -EINVAL || is_missing(ret))
		return unsupported(c, "no sendfile on this file system", ret);
	if (ret < 0)
		return ret;
	if (ret != SIZE)
		return failed(c, "sendfile: wrong result", 0);
	memset(data, 0, SIZE);
	ret = SYS(pread64, *slot_fd(c, 0), data, DATA_SIZE, 0);
	if (ret < 0)
		return ret;
	if (ret != SIZE || data[0] != 'x' || data[SIZE - 1] != 'x')
		return failed(c, "sendfile: wrong result", 0);
	return 0;
}

static void teardown(struct cell *c)
{
	slots_close(c);
	close_as(c, 0);
}

BENCH("sendfile", READ_WRITE, BEYOND, 22, "sendfile of 4 KB from one cached file over another",
      .max_batch = MAX_FD_SLOTS, .variants = VARIANTS({ "4KB" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .teardown = teardown);
