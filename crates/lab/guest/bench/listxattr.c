// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: listxattr of a file with 1 or 8 attributes of ours; a module's own
 * (security.selinux) come on top. Nothing to undo.
 */
#include "xattr.h"

#define LIST_SIZE	4096

/* The n-th attribute's name: the chosen one, then with a digit after it. */
static void name_of(struct cell *c, char *name, size_t size, long n)
{
	if (n)
		format(name, size, "%s%ld", c->path2, n);
	else
		format(name, size, "%s", c->path2);
}

static int setup(struct cell *c)
{
	char name[32];
	long n, ret;

	ret = make_dirs("AA/BB");
	if (ret < 0)
		return ret;
	ret = make_file("AA/BB", 0);
	if (ret < 0)
		return ret;
	ret = xattr_choose(c, "AA/BB");
	for (n = 1; ret >= 0 && n < c->variant->arg2; n++) {
		name_of(c, name, sizeof(name), n);
		ret = SYS(setxattr, "AA/BB", name, XATTR_VALUE, XATTR_SIZE, 0);
	}
	if (ret == -ENOSPC)
		return unsupported(c, "the file system has no room for the attributes", ret);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(listxattr, "AA/BB", slot_data(c), LIST_SIZE);
}

static int check(struct cell *c)
{
	char name[32], *list = slot_data(c);
	long len, pos, n, found = 0;

	len = op(c, 0);
	if (len < 0)
		return len;
	if (len == 0 || list[len - 1])
		return failed(c, "listxattr: wrong result", 0);
	for (pos = 0; pos < len; pos += strlen(list + pos) + 1) {
		for (n = 0; n < c->variant->arg2; n++) {
			name_of(c, name, sizeof(name), n);
			if (!strcmp(list + pos, name))
				found++;
		}
	}
	return found == c->variant->arg2 ? 0 : failed(c, "listxattr: wrong result", 0);
}

BENCH("listxattr", XATTR, BEYOND, 15, "listxattr of a file with 1 or 8 attributes",
      .source = "paper section 4.1, class 5; listxattr(2)",
      .variants = VARIANTS({ "1attribute", .arg2 = 1 }, { "8attributes", .arg2 = 8 }),
      .setup = setup, .check = check, .op = op);
