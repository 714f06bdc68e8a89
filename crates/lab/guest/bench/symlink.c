// SPDX-License-Identifier: GPL-2.0-or-later
#include "paths.h"

#define TARGET	"AA"

static int symlink_setup(struct cell *c)
{
	random_slots(c, "");
	return 0;
}

/* symlink and unlink, both measured (Table 3); random names. */
static long symlink_op(struct cell *c, unsigned int i)
{
	const char *name = slot_name[i % SLOTS];

	(void)c;
	return SYS(symlink, TARGET, name) ?: sys_unlink(name);
}

static int symlink_check(struct cell *c)
{
	long err, size;

	err = SYS(symlink, TARGET, slot_name[0]);
	if (err == -EPERM || err == -EOPNOTSUPP)
		return unsupported(c, "symlink", err);
	if (err < 0)
		return failed(c, "symlink", err);
	memset(c->path, 0, sizeof(TARGET));
	err = SYS(readlink, slot_name[0], c->path, sizeof(c->path));
	if (err != sizeof(TARGET) - 1 || memcmp(c->path, TARGET, sizeof(TARGET) - 1))
		return failed(c, "symlink: wrong target", err);
	err = sys_unlink(slot_name[0]);
	if (err < 0)
		return failed(c, "unlink", err);
	err = file_size(slot_name[0], &size);
	return err == -ENOENT ? 0 : failed(c, "unlink: the name is still there", err);
}

BENCH("symlink", LINK, PAPER, 8, "make a symbolic link, unlink it; random names",
      .source = "LMBench-Hook, Table 3 no. 8, section 4.1", .syscalls = "symlink unlink",
      .variants = VARIANTS({ "random" }),
      .setup = symlink_setup, .check = symlink_check, .op = symlink_op);

static int symlink_only_setup(struct cell *c)
{
	long err = make_dirs(c->variant->path);

	random_slots(c, c->variant->path);
	return err < 0 ? failed(c, "mkdir", err) : 0;
}

/* Measured: symlink at some depth, alone. Undo: unlink. */
OP(symlink_only_op, SYS(symlink, TARGET, slot_name[i]));

SLOT(undo, sys_unlink(slot_name[i]));

static int symlink_only_check(struct cell *c)
{
	long err = symlink_only_op(c, 0);

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
      .setup = symlink_only_setup, .check = symlink_only_check, .op = symlink_only_op,
      .undo = undo);
