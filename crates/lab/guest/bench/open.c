// SPDX-License-Identifier: GPL-2.0-or-later
/* open(O_RDONLY) and close. For the missing file, only the failing open. */
#include "paths.h"

static long op(struct cell *c, unsigned int i)
{
	long fd;

	(void)i;
	fd = sys_open(c->path, O_RDONLY, 0);
	if (fd < 0)
		return fd == c->state[0] ? 0 : fd;
	return sys_close(fd);
}

static int check(struct cell *c)
{
	long fd, err;
	char byte;

	fd = sys_open(c->path, O_RDONLY, 0);
	if (c->state[0]) {
		if (fd >= 0)
			sys_close(fd);
		return fd == c->state[0] ? 0 : failed(c, "open of a missing file", fd);
	}
	if (fd < 0)
		return failed(c, "open", fd);
	err = sys_read(fd, &byte, 1);
	if (err != 0)
		return failed(c, "read of an empty file", err);
	err = sys_write(fd, "x", 1);
	if (err != -EBADF)
		return failed(c, "write to a file open for reading", err);
	err = sys_close(fd);
	if (err < 0)
		return failed(c, "close", err);
	err = sys_close(fd);
	return err == -EBADF ? 0 : failed(c, "second close", err);
}

BENCH("open", FILE, PAPER, 1, "open a file for reading, close it",
      .source = "LMBench-Hook, Table 3 no. 1, section 4.1; Table 6", .syscalls = "open close",
      .variants = lookup_variants,
      .setup = make_lookup_file, .check = check, .op = op);
