// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: removexattr of a file's only attribute of ours, or of its access control list; each operation of a
 * batch has its own file. Undone outside: setxattr.
 */
#include "xattr.h"

static int undo(struct cell *c, unsigned int i)
{
	return xattr_set(c, slot_name(c, i), XATTR_OLD);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(removexattr, slot_name(c, i), c->path2);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (xattr_expect(c, slot_name(c, 0), XATTR_OLD) != -ENODATA)
		return failed(c, "removexattr: wrong result", 0);
	ret = undo(c, 0);
	if (ret < 0)
		return ret;
	return xattr_expect(c, slot_name(c, 0), XATTR_OLD);
}

BENCH("removexattr", XATTR, BEYOND, 16,
      "removexattr of a value of 32 bytes, or of an access control list",
      .source = "paper section 4.1, class 5; removexattr(2)", .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "32B" }, { "posix-acl", .arg = XATTR_ACL }),
      .setup = xattr_make_files, .check = check, .op = op, .undo = undo);
