// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: fsetxattr of an attribute that the file has, to another value of the
 * same length. Each operation of a batch has its own file and descriptor;
 * undone outside: fsetxattr to the old value (see setxattr.c).
 */
#include "xattr.h"

static long set(struct cell *c, unsigned int i, int which)
{
	return SYS(fsetxattr, *slot_fd(c, i), c->path2, xattr_value(c, which), xattr_size(c), 0);
}

static int undo(struct cell *c, unsigned int i)
{
	return set(c, i, XATTR_OLD);
}

static int setup(struct cell *c)
{
	int ret = xattr_make_files(c);

	return ret < 0 ? ret : slots_open(c, NULL, O_WRONLY);
}

static long op(struct cell *c, unsigned int i)
{
	return set(c, i, XATTR_NEW);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	ret = xattr_expect(c, slot_name(c, 0), XATTR_NEW);
	if (ret < 0)
		return ret;
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	return xattr_expect(c, slot_name(c, 0), XATTR_OLD);
}

BENCH("fsetxattr", XATTR, BEYOND, 17, "fsetxattr that replaces a value of 32 bytes",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "32B" }),
      .setup = setup, .check = check, .op = op, .undo = undo, .teardown = slots_close);
