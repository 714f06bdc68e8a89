// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: getxattr of a value of 32 bytes, of an access control list, or of an attribute whose
 * name has modules asked first. Nothing to undo.
 */
#include "xattr.h"

static int setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");

	if (ret < 0)
		return ret;
	ret = make_file("AA/BB", 0);
	if (ret < 0)
		return ret;
	return xattr_choose(c, "AA/BB");
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(getxattr, "AA/BB", c->path2, slot_data(c), 256);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	return ret == (long)xattr_size(c) ? xattr_expect(c, "AA/BB", XATTR_OLD) :
	       failed(c, "getxattr: wrong result", 0);
}

BENCH("getxattr", XATTR, BEYOND, 13,
      "getxattr of 32 bytes, an access control list or a security attribute",
      .source = "paper section 4.1, class 5; getxattr(2)",
      .variants = VARIANTS({ "32B" },
			   { "posix-acl", .arg = XATTR_ACL },
			   { "security", .arg = XATTR_SECURITY }),
      .setup = setup, .check = check, .op = op);
