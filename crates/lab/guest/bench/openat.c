// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * openat(O_RDONLY) relative to a directory descriptor, and close. The files have random names and
 * are made in advance, so their dentries are cached.
 */
#include "paths.h"

#define FILES	256

static int setup(struct cell *c)
{
	char path[SLOT_LEN + 4];
	unsigned int i;
	long err;

	err = sys_mkdir("AA", 0755);
	if (err < 0)
		return failed(c, "mkdir", err);
	for (i = 0; i < FILES; i++) {
		random_name(c, slot_name[i], "");
		format(path, sizeof(path), "AA/%s", slot_name[i]);
		err = make_file(path, 0);
		if (err < 0)
			return failed(c, "creating a file", err);
	}
	c->fd[0] = sys_open("AA", O_RDONLY | O_DIRECTORY, 0);
	return c->fd[0] < 0 ? failed(c, "open of the directory", c->fd[0]) : 0;
}

static int check(struct cell *c)
{
	unsigned int i;
	long fd, err;

	for (i = 0; i < FILES; i++) {
		fd = SYS(openat, c->fd[0], slot_name[i], O_RDONLY, 0);
		if (fd < 0)
			return failed(c, "openat", fd);
		err = sys_close(fd);
		if (err < 0)
			return failed(c, "close", err);
	}
	/* The name is resolved in that directory instead of the current one. */
	fd = sys_open(slot_name[0], O_RDONLY, 0);
	return fd == -ENOENT ? 0 : failed(c, "open in the wrong directory", fd);
}

static long op(struct cell *c, unsigned int i)
{
	long fd;

	fd = SYS(openat, c->fd[0], slot_name[i % FILES], O_RDONLY, 0);
	if (fd < 0)
		return fd;
	return sys_close(fd);
}

static void teardown(struct cell *c)
{
	sys_close(c->fd[0]);
}

BENCH("openat", FILE, PAPER, 2, "open a file below a directory descriptor, close it; random names",
      .source = "LMBench-Hook, Table 3 no. 2, section 4.1", .syscalls = "openat close",
      .variants = VARIANTS({ "random" }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
