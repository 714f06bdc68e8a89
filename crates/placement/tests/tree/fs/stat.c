// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

static int vfs_statx(struct filename *name, int flags)
{
	struct path path;
	int error;

retry:
	error = filename_lookup(name, &path);
	if (error)
		return error;
	error = security_inode_getattr(&path);
	if (retry_estale(error, flags)) {
		flags |= LOOKUP_REVAL;
		goto retry;
	}
	return error;
}

SYSCALL_DEFINE2(newstat, const char __user *, filename, struct stat __user *, statbuf)
{
	return vfs_statx(getname(filename), 0);
}

SYSCALL_DEFINE1(broken, int, x)
{
	if (x {
		security_inode_getattr(x);
}
