// SPDX-License-Identifier: GPL-2.0-or-later
/* symlink and unlink, both in the window (Table 3); random names. */
#include "paths.h"

#define TARGET	"AA"

static int setup(struct cell *c)
{
	random_slots(c, "");
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	const char *name = slot_name[i % SLOTS];
	long err;

	(void)c;
	err = SYS(symlink, TARGET, name);
	if (err < 0)
		return err;
	return sys_unlink(name);
}

static int check(struct cell *c)
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
      .setup = setup, .check = check, .op = op);
