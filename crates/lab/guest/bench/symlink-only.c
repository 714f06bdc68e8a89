// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: symlink, the link being the last of some components, and nothing
 * else. Undone outside: unlink.
 */
#include "paths.h"

#define TARGET	"AA"

static int setup(struct cell *c)
{
	long err = make_dirs(c->variant->path);

	random_slots(c, c->variant->path);
	return err < 0 ? failed(c, "mkdir", err) : 0;
}

static long op(struct cell *c, unsigned int i)
{
	(void)c;
	return SYS(symlink, TARGET, slot_name[i]);
}

static int undo(struct cell *c, unsigned int i)
{
	(void)c;
	return sys_unlink(slot_name[i]);
}

static int check(struct cell *c)
{
	long err = op(c, 0);

	if (err == -EPERM || err == -EOPNOTSUPP)
		return unsupported(c, "symlink", err);
	if (err < 0)
		return failed(c, "symlink", err);
	memset(c->path, 0, sizeof(TARGET));
	err = SYS(readlink, slot_name[0], c->path, sizeof(c->path));
	if (err != sizeof(TARGET) - 1 || memcmp(c->path, TARGET, sizeof(TARGET) - 1))
		return failed(c, "symlink: wrong target", err);
	err = undo(c, 0);
	return err < 0 ? failed(c, "unlink", err) : 0;
}

BENCH("symlink-only", LINK, BEYOND, 39, "make a symbolic link; random names",
      .source = "paper Table 7; symlink(2)", .syscalls = "symlink", .max_batch = SLOTS,
      .variants = depth_variants,
      .setup = setup, .check = check, .op = op, .undo = undo);
