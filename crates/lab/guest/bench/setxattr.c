// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: setxattr of an attribute that the file has, to another value of the
 * same length: of ours, or an access control list. Each operation of a batch has its own file and writes "new";
 * undone outside: setxattr to the old value. Writing the value that is there
 * would not do: ext4 notices and leaves early.
 */
#include "xattr.h"

static int undo(struct cell *c, unsigned int i)
{
	return xattr_set(c, slot_name(c, i), XATTR_OLD);
}

static long op(struct cell *c, unsigned int i)
{
	return xattr_set(c, slot_name(c, i), XATTR_NEW);
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

BENCH("setxattr", XATTR, BEYOND, 14,
      "setxattr that replaces a value of 32 bytes, or an access control list",
      .source = "paper section 4.1, class 5; setxattr(2)", .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "32B" }, { "posix-acl", .arg = XATTR_ACL }),
      .setup = xattr_make_files, .check = check, .op = op, .undo = undo);
