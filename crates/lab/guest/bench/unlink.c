// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unlink as Table 3 has it: open (an existing file, for reading), unlink,
 * close. Closing the last descriptor of a file without a name frees it, in the
 * window. The file is made before it, under a random name.
 */
#include "paths.h"

static int prepare(struct cell *c, unsigned int i)
{
	random_name(c, slot_name[i], "");
	return make_file(slot_name[i], 0);
}

static long op(struct cell *c, unsigned int i)
{
	long fd, err;

	(void)c;
	fd = sys_open(slot_name[i], O_RDONLY, 0);
	if (fd < 0)
		return fd;
	err = sys_unlink(slot_name[i]);
	if (err < 0) {
		sys_close(fd);
		return err;
	}
	return sys_close(fd);
}

static int check(struct cell *c)
{
	long err, size;

	err = prepare(c, 0);
	if (err < 0)
		return failed(c, "creating the file", err);
	err = op(c, 0);
	if (err < 0)
		return failed(c, "open unlink close", err);
	err = file_size(slot_name[0], &size);
	return err == -ENOENT ? 0 : failed(c, "unlink: the name is still there", err);
}

BENCH("unlink", LINK, PAPER, 7, "open a file, unlink it, close it; random names",
      .source = "LMBench-Hook, Table 3 no. 7, section 4.1", .syscalls = "open unlink close",
      .max_batch = SLOTS, .variants = VARIANTS({ "random" }),
      .check = check, .prepare = prepare, .op = op);
