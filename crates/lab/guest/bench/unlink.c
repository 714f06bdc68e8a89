// SPDX-License-Identifier: GPL-2.0-or-later
#include "paths.h"

static int unlink_prepare(struct cell *c, unsigned int i)
{
	random_name(c, slot_name[i], "");
	return make_file(slot_name[i], 0);
}

/*
 * unlink as in Table 3: open (an existing file, for reading), unlink, close. Closing the last
 * descriptor of an unlinked file frees it, within the region. prepare() makes the file, with a
 * random name.
 */
static long unlink_op(struct cell *c, unsigned int i)
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

static int unlink_check(struct cell *c)
{
	long err, size;

	err = unlink_prepare(c, 0);
	if (err < 0)
		return failed(c, "creating the file", err);
	err = unlink_op(c, 0);
	if (err < 0)
		return failed(c, "open unlink close", err);
	err = file_size(slot_name[0], &size);
	return err == -ENOENT ? 0 : failed(c, "unlink: the name is still there", err);
}

BENCH("unlink", LINK, PAPER, 7, "open a file, unlink it, close it; random names",
      .source = "LMBench-Hook, Table 3 no. 7, section 4.1", .syscalls = "open unlink close",
      .max_batch = SLOTS, .variants = VARIANTS({ "random" }),
      .check = unlink_check, .prepare = unlink_prepare, .op = unlink_op);

static int setup(struct cell *c)
{
	long err = make_dirs(c->variant->path);

	random_slots(c, c->variant->path);
	return err < 0 ? failed(c, "mkdir", err) : 0;
}

SLOT(unlink_only_prepare, make_file(slot_name[i], 0));

/*
 * Measured: unlink of an empty file at some depth that nobody has open. prepare() makes the file.
 */
OP(unlink_only_op, SYS(unlink, slot_name[i]));

static int unlink_only_check(struct cell *c)
{
	long err, size;

	err = unlink_only_prepare(c, 0);
	if (err < 0)
		return failed(c, "creating the file", err);
	err = unlink_only_op(c, 0);
	if (err < 0)
		return failed(c, "unlink", err);
	err = file_size(slot_name[0], &size);
	return err == -ENOENT ? 0 : failed(c, "unlink: the name is still there", err);
}

BENCH("unlink-only", LINK, BEYOND, 40, "unlink a file; random names",
      .source = "paper Table 7; unlink(2)", .syscalls = "unlink", .max_batch = SLOTS,
      .variants = depth_variants,
      .setup = setup, .check = unlink_only_check, .prepare = unlink_only_prepare,
      .op = unlink_only_op);
