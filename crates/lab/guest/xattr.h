/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The extended attribute that all xattr benchmarks use. */
#ifndef LSMETER_XATTR_H
#define LSMETER_XATTR_H

#include "slots.h"

#define XATTR_VALUE	"0123456789abcdef0123456789abcdef"
#define XATTR_SIZE	32

/*
 * Sets the attribute on the file path and leaves its name in c->path2:
 * user.lsmeter, or trusted.lsmeter where the file system has no user.*
 * attributes (tmpfs before 6.6) and the agent is privileged.
 */
static inline int xattr_choose(struct cell *c, const char *path)
{
	long ret;

	format(c->path2, sizeof(c->path2), "user.lsmeter");
	ret = SYS(setxattr, path, c->path2, XATTR_VALUE, XATTR_SIZE, 0);
	if (!is_missing(ret))
		return ret;

	format(c->path2, sizeof(c->path2), "trusted.lsmeter");
	ret = SYS(setxattr, path, c->path2, XATTR_VALUE, XATTR_SIZE, 0);
	if (ret == -EPERM)
		return unsupported(c, "no user.* attributes here, and trusted.* need CAP_SYS_ADMIN",
				   ret);
	if (is_missing(ret))
		return unsupported(c, "no extended attributes on this file system", ret);
	return ret;
}

/* For check(): path has the attribute with exactly this value. */
static inline int xattr_expect(struct cell *c, const char *path, const char *value)
{
	long ret = SYS(getxattr, path, c->path2, slot_data(c), DATA_SIZE);

	if (ret < 0)
		return ret;
	if (ret != XATTR_SIZE || memcmp(slot_data(c), value, XATTR_SIZE))
		return failed(c, "getxattr: wrong value", 0);
	return 0;
}

#endif
