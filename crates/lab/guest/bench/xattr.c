// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/memfd.h>
#include "xattr.h"

#define LIST_SIZE	4096
#define NAME		"security.lsmeter"

static int getxattr_setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");

	if (ret < 0)
		return ret;
	return make_file("AA/BB", 0) ?: xattr_choose(c, "AA/BB");
}

/*
 * Measured: getxattr of a 32-byte value, of an access control list, or of an attribute whose name
 * makes the kernel call modules first. Nothing to undo.
 */
OP(getxattr_op, SYS(getxattr, "AA/BB", c->path2, slot_data(c), 256));

static int getxattr_check(struct cell *c)
{
	long ret = getxattr_op(c, 0);

	return wrong_if(c, ret, ret != (long)xattr_size(c), "getxattr: wrong result") ?:
	       xattr_expect(c, "AA/BB", XATTR_OLD);
}

BENCH("getxattr", XATTR, BEYOND, 13,
      "getxattr of 32 bytes, an access control list or a security attribute",
      .source = "paper section 4.1, class 5; getxattr(2)",
      .variants = VARIANTS({ "32B" },
			   { "posix-acl", .arg = XATTR_ACL },
			   { "security", .arg = XATTR_SECURITY }),
      .setup = getxattr_setup, .check = getxattr_check, .op = getxattr_op);

SLOT(set_old, xattr_set(c, slot_name(c, i), XATTR_OLD));

/*
 * Measured: setxattr of an existing attribute to another value of the same length: our attribute,
 * or an access control list. Each operation of a batch has its own file and writes "new"; undo:
 * setxattr to the old value. Writing the current value would not work, because ext4 notices this
 * and returns early.
 */
OP(setxattr_op, xattr_set(c, slot_name(c, i), XATTR_NEW));

/* Whether op() sets the new value, and undo() the old one. */
static int check_set(struct cell *c, long (*op)(struct cell *c, unsigned int i),
		     int (*undo)(struct cell *c, unsigned int i))
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

SETUP(setxattr_check, check_set(c, setxattr_op, set_old));

BENCH("setxattr", XATTR, BEYOND, 14,
      "setxattr that replaces a value of 32 bytes, or an access control list",
      .source = "paper section 4.1, class 5; setxattr(2)", .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "32B" }, { "posix-acl", .arg = XATTR_ACL }),
      .setup = xattr_make_files, .check = setxattr_check, .op = setxattr_op, .undo = set_old);

static long fset(struct cell *c, unsigned int i, int which)
{
	return SYS(fsetxattr, *slot_fd(c, i), c->path2, xattr_value(c, which), xattr_size(c), 0);
}

SLOT(fsetxattr_undo, fset(c, i, XATTR_OLD));

static int fsetxattr_setup(struct cell *c)
{
	int ret = xattr_make_files(c);

	return ret < 0 ? ret : slots_open(c, NULL, O_WRONLY);
}

/*
 * Measured: fsetxattr of an existing attribute to another value of the same length. Each operation
 * of a batch has its own file and descriptor; undo: fsetxattr to the old value (see setxattr).
 */
OP(fsetxattr_op, fset(c, i, XATTR_NEW));

SETUP(fsetxattr_check, check_set(c, fsetxattr_op, fsetxattr_undo));

BENCH("fsetxattr", XATTR, BEYOND, 17, "fsetxattr that replaces a value of 32 bytes",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "32B" }),
      .setup = fsetxattr_setup, .check = fsetxattr_check, .op = fsetxattr_op,
      .undo = fsetxattr_undo, .teardown = slots_close);

/*
 * Measured: removexattr of a file's only attribute of ours, or of its access control list; each
 * operation of a batch has its own file. Undo: setxattr.
 */
OP(removexattr_op, SYS(removexattr, slot_name(c, i), c->path2));

static int removexattr_check(struct cell *c)
{
	long ret = removexattr_op(c, 0);

	if (ret < 0)
		return ret;
	if (xattr_expect(c, slot_name(c, 0), XATTR_OLD) != -ENODATA)
		return failed(c, "removexattr: wrong result", 0);
	ret = set_old(c, 0);
	if (ret < 0)
		return ret;
	return xattr_expect(c, slot_name(c, 0), XATTR_OLD);
}

BENCH("removexattr", XATTR, BEYOND, 16,
      "removexattr of a value of 32 bytes, or of an access control list",
      .source = "paper section 4.1, class 5; removexattr(2)", .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "32B" }, { "posix-acl", .arg = XATTR_ACL }),
      .setup = xattr_make_files, .check = removexattr_check, .op = removexattr_op,
      .undo = set_old);

/* The n-th attribute's name: the chosen one, then with a digit appended. */
static void name_of(struct cell *c, char *name, size_t size, long n)
{
	if (n)
		format(name, size, "%s%ld", c->path2, n);
	else
		format(name, size, "%s", c->path2);
}

static int listxattr_setup(struct cell *c)
{
	char name[32];
	long n, ret;

	ret = make_dirs("AA/BB") ?: make_file("AA/BB", 0);
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

/*
 * Measured: listxattr of a file with 1 or 8 attributes of ours, in addition to those of modules
 * (security.selinux). Nothing to undo.
 */
OP(listxattr_op, SYS(listxattr, "AA/BB", slot_data(c), LIST_SIZE));

static int listxattr_check(struct cell *c)
{
	char name[32], *list = slot_data(c);
	long len, pos, n, found = 0;

	len = listxattr_op(c, 0);
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
      .setup = listxattr_setup, .check = listxattr_check, .op = listxattr_op);

static int flistxattr_setup(struct cell *c)
{
	long ret = SYS(memfd_create, "lsmeter", MFD_CLOEXEC);

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no memfd_create", ret);
	if (ret < 0)
		return failed(c, "memfd_create", ret);
	c->fd[0] = ret;
	ret = SYS(fsetxattr, c->fd[0], NAME, "x", 1, 0);
	if (ret >= 0)
		return 0;
	close_as(c, 0);
	if (ret == -EPERM || is_missing(ret))
		return unsupported(c, "no such attributes of such files, or not for this user", ret);
	return failed(c, "fsetxattr", ret);
}

/*
 * Measured: flistxattr of a memfd, a tmpfs file with one attribute that a module could have set:
 * the kernel calls modules for their names, and to check whether this is one of theirs. Nothing to
 * undo.
 */
OP(flistxattr_op, SYS(flistxattr, c->fd[0], slot_data(c), LIST_SIZE));

static int flistxattr_check(struct cell *c)
{
	char *list = slot_data(c);
	long len = flistxattr_op(c, 0), pos;

	if (len < 0)
		return len;
	if (!len || list[len - 1])
		return failed(c, "flistxattr: wrong result", 0);
	for (pos = 0; pos < len; pos += strlen(list + pos) + 1)
		if (!strcmp(list + pos, NAME))
			return 0;
	return failed(c, "flistxattr: the attribute is missing", 0);
}

BENCH("flistxattr", XATTR, BEYOND, 64, "flistxattr of a memfd with a security attribute",
      .variants = VARIANTS({ "memfd" }),
      .setup = flistxattr_setup, .check = flistxattr_check, .op = flistxattr_op,
      .teardown = close_file);
