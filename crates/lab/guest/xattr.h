/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extended attribute of all xattr benchmarks: lsmeter's own (a variant's arg is XATTR_OURS),
 * an access control list, or one whose name makes the kernel call modules.
 */
#ifndef LSMETER_XATTR_H
#define LSMETER_XATTR_H

#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include "slots.h"

enum { XATTR_OURS, XATTR_ACL, XATTR_SECURITY };

/* Two values of the same length, which replace each other. */
enum { XATTR_OLD, XATTR_NEW };

#define XATTR_VALUE	"0123456789abcdef0123456789abcdef"
#define XATTR_SIZE	32
#define ACL_ENTRIES	5

struct acl {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entries[ACL_ENTRIES];
};

/* A list that lets user 1 read, or read and write. */
#define ACL_OF(rights)						\
	{							\
		.header = { POSIX_ACL_XATTR_VERSION },		\
		.entries = {					\
			{ ACL_USER_OBJ, 6, ACL_UNDEFINED_ID },	\
			{ ACL_USER, rights, 1 },		\
			{ ACL_GROUP_OBJ, 4, ACL_UNDEFINED_ID },	\
			{ ACL_MASK, 6, ACL_UNDEFINED_ID },	\
			{ ACL_OTHER, 4, ACL_UNDEFINED_ID },	\
		},						\
	}

static inline const void *xattr_value(struct cell *c, int which)
{
	static const char texts[][XATTR_SIZE + 1] = {
		XATTR_VALUE, "new...new...new...new...new...!!"
	};
	static const struct acl acls[] = { ACL_OF(4), ACL_OF(6) };

	return c->variant->arg == XATTR_ACL ? (const void *)(acls + which) : texts[which];
}

static inline size_t xattr_size(struct cell *c)
{
	return c->variant->arg == XATTR_ACL ? sizeof(struct acl) : XATTR_SIZE;
}

static inline long xattr_set(struct cell *c, const char *path, int which)
{
	return SYS(setxattr, path, c->path2, xattr_value(c, which), xattr_size(c), 0);
}

static inline int xattr_choose_ours(struct cell *c, const char *path)
{
	long ret;

	format(c->path2, sizeof(c->path2), "user.lsmeter");
	ret = xattr_set(c, path, XATTR_OLD);
	if (!is_missing(ret))
		return ret;

	format(c->path2, sizeof(c->path2), "trusted.lsmeter");
	ret = xattr_set(c, path, XATTR_OLD);
	if (ret == -EPERM)
		return unsupported(c, "no user.* attributes here, and trusted.* need CAP_SYS_ADMIN",
				   ret);
	if (is_missing(ret))
		return unsupported(c, "no extended attributes on this file system", ret);
	return ret;
}

/*
 * Sets the attribute on the file path and leaves its name in c->path2. lsmeter's own is
 * user.lsmeter, or trusted.lsmeter if the file system has no user.* attributes (tmpfs before 6.6)
 * and the agent is privileged.
 */
static inline int xattr_choose(struct cell *c, const char *path)
{
	long ret;

	if (c->variant->arg == XATTR_OURS)
		return xattr_choose_ours(c, path);
	format(c->path2, sizeof(c->path2), c->variant->arg == XATTR_ACL ?
	       "system.posix_acl_access" : "security.lsmeter");
	ret = xattr_set(c, path, XATTR_OLD);
	if (is_missing(ret))
		return unsupported(c, "no such attributes on this file system", ret);
	if (ret == -EPERM || ret == -EINVAL)
		return unsupported(c, "no such attributes for this user", ret);
	return ret;
}

/* For check(): path has the attribute with exactly this value. */
static inline int xattr_expect(struct cell *c, const char *path, int which)
{
	long ret = SYS(getxattr, path, c->path2, slot_data(c), DATA_SIZE);

	if (ret < 0)
		return ret;
	if (ret != (long)xattr_size(c) || memcmp(slot_data(c), xattr_value(c, which), ret))
		return failed(c, "getxattr: wrong value", 0);
	return 0;
}

/* For setup(): makes a file with the attribute under every slot's name. */
static inline int xattr_make_files(struct cell *c)
{
	unsigned int i;
	int ret;

	ret = slots_name(c, "AA/") ?: slots_make_files(c, 0);
	if (ret < 0)
		return ret;
	ret = xattr_choose(c, slot_name(c, 0));
	for (i = 1; ret >= 0 && i < c->batch; i++)
		ret = xattr_set(c, slot_name(c, i), XATTR_OLD);
	return ret;
}

#endif
