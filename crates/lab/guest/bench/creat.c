// SPDX-License-Identifier: GPL-2.0-or-later
#include "paths.h"

#define FDS	256	/* well below the usual limit of 1024 */

static int prepare(struct cell *c, unsigned int i)
{
	random_name(c, slot_name[i], "");
	random_name(c, slot_other[i], "");
	return make_file(slot_name[i], 0);
}

/*
 * creat as in Table 3: rename the file with that name, create the file again, and close it. All
 * three calls are measured. prepare() makes the old file, undo() removes both, and each operation
 * has its own random names.
 */
static long creat_op(struct cell *c, unsigned int i)
{
	long fd;

	(void)c;
	fd = SYS(rename, slot_name[i], slot_other[i]) ?: SYS(creat, slot_name[i], 0644);
	if (fd < 0)
		return fd;
	return sys_close(fd);
}

static int creat_undo(struct cell *c, unsigned int i)
{
	long err, err2;

	(void)c;
	err = sys_unlink(slot_name[i]);
	err2 = sys_unlink(slot_other[i]);
	return err < 0 ? err : err2;
}

static int creat_check(struct cell *c)
{
	long err, size;

	random_name(c, slot_name[0], "");
	random_name(c, slot_other[0], "");
	err = make_file(slot_name[0], 7);
	if (err < 0)
		return failed(c, "creating the file", err);
	err = creat_op(c, 0);
	if (err < 0)
		return failed(c, "rename creat close", err);
	err = file_size(slot_other[0], &size);
	if (err < 0 || size != 7)
		return failed(c, "rename: the old file has not moved", err);
	err = file_size(slot_name[0], &size);
	if (err < 0 || size != 0)
		return failed(c, "creat: no new empty file", err);
	err = creat_undo(c, 0);
	return err < 0 ? failed(c, "unlink", err) : 0;
}

BENCH("creat", FILE, PAPER, 4, "rename a file away, create it again, close it; random names",
      .source = "LMBench-Hook, Table 3 no. 4, section 4.1", .syscalls = "rename creat close",
      .max_batch = SLOTS, .variants = VARIANTS({ "random" }),
      .check = creat_check, .prepare = prepare, .op = creat_op, .undo = creat_undo);

static int setup(struct cell *c)
{
	unsigned int i;
	long err = make_dirs(c->variant->path);

	for (i = 0; i < FDS; i++)
		random_name(c, slot_name[i], c->variant->path);
	return err < 0 ? failed(c, "mkdir", err) : 0;
}

static int *fd_of(struct cell *c, unsigned int i)
{
	return (int *)c->buffer + i;
}

/* Measured: creat of a new file at some depth, alone. Undo: close, unlink. */
OP(creat_only_op, *fd_of(c, i) = SYS(creat, slot_name[i], 0644));

static int creat_only_undo(struct cell *c, unsigned int i)
{
	long err = sys_close(*fd_of(c, i));

	return err < 0 ? err : sys_unlink(slot_name[i]);
}

static int creat_only_check(struct cell *c)
{
	long err, size;

	err = creat_only_op(c, 0);
	if (err < 0)
		return failed(c, "creat", err);
	err = file_size(slot_name[0], &size);
	if (err < 0 || size != 0)
		return failed(c, "creat: no new empty file", err);
	err = creat_only_undo(c, 0);
	return err < 0 ? failed(c, "close unlink", err) : 0;
}

BENCH("creat-only", FILE, BEYOND, 38, "create a file; random names",
      .source = "paper Table 7; creat(2)", .syscalls = "creat", .max_batch = FDS,
      .variants = depth_variants,
      .setup = setup, .check = creat_only_check, .op = creat_only_op, .undo = creat_only_undo);
