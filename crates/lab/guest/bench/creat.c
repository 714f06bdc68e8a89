// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * creat as Table 3 has it: rename the file of that name away, create it anew,
 * close it, all three in the window. The old file is made before it, both are
 * removed after it, and every operation has random names of its own.
 */
#include "paths.h"

static int prepare(struct cell *c, unsigned int i)
{
	random_name(c, slot_name[i], "");
	random_name(c, slot_other[i], "");
	return make_file(slot_name[i], 0);
}

static long op(struct cell *c, unsigned int i)
{
	long fd;

	(void)c;
	fd = SYS(rename, slot_name[i], slot_other[i]);
	if (fd < 0)
		return fd;
	fd = SYS(creat, slot_name[i], 0644);
	if (fd < 0)
		return fd;
	return sys_close(fd);
}

static int undo(struct cell *c, unsigned int i)
{
	long err, err2;

	(void)c;
	err = sys_unlink(slot_name[i]);
	err2 = sys_unlink(slot_other[i]);
	return err < 0 ? err : err2;
}

static int check(struct cell *c)
{
	long err, size;

	random_name(c, slot_name[0], "");
	random_name(c, slot_other[0], "");
	err = make_file(slot_name[0], 7);
	if (err < 0)
		return failed(c, "creating the file", err);
	err = op(c, 0);
	if (err < 0)
		return failed(c, "rename creat close", err);
	err = file_size(slot_other[0], &size);
	if (err < 0 || size != 7)
		return failed(c, "rename: the old file has not moved", err);
	err = file_size(slot_name[0], &size);
	if (err < 0 || size != 0)
		return failed(c, "creat: no new empty file", err);
	err = undo(c, 0);
	return err < 0 ? failed(c, "unlink", err) : 0;
}

BENCH("creat", FILE, PAPER, 4, "rename a file away, create it anew, close it; random names",
      .source = "LMBench-Hook, Table 3 no. 4, section 4.1", .syscalls = "rename creat close",
      .max_batch = SLOTS, .variants = VARIANTS({ "random" }),
      .check = check, .prepare = prepare, .op = op, .undo = undo);
