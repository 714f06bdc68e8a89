// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: unlink of an empty file, which is the last of some components and
 * which nobody has open. The file is made before it.
 */
#include "paths.h"

static int setup(struct cell *c)
{
	long err = make_dirs(c->variant->path);

	random_slots(c, c->variant->path);
	return err < 0 ? failed(c, "mkdir", err) : 0;
}

static int prepare(struct cell *c, unsigned int i)
{
	(void)c;
	return make_file(slot_name[i], 0);
}

static long op(struct cell *c, unsigned int i)
{
	(void)c;
	return SYS(unlink, slot_name[i]);
}

static int check(struct cell *c)
{
	long err, size;

	err = prepare(c, 0);
	if (err < 0)
		return failed(c, "creating the file", err);
	err = op(c, 0);
	if (err < 0)
		return failed(c, "unlink", err);
	err = file_size(slot_name[0], &size);
	return err == -ENOENT ? 0 : failed(c, "unlink: the name is still there", err);
}

BENCH("unlink-only", LINK, BEYOND, 40, "unlink a file; random names",
      .source = "paper Table 7; unlink(2)", .syscalls = "unlink", .max_batch = SLOTS,
      .variants = depth_variants,
      .setup = setup, .check = check, .prepare = prepare, .op = op);
