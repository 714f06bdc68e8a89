// SPDX-License-Identifier: GPL-2.0-or-later
/* System calls on overlayfs, which calls the same functions again on a layer. */
#include <linux/fs.h>

int vfs_getattr(const struct path *path, struct kstat *stat)
{
	security_inode_getattr(path);
	if (path->inode->i_op->getattr)
		return path->inode->i_op->getattr(path, stat);
	return 0;
}

int vfs_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return dir->i_op->mkdir(dir, dentry, mode);
}

/* overlayfs calls it for its own inode: `mkdir` is its function again. */
int setattr_prepare(struct inode *inode, struct dentry *dentry)
{
	return inode->i_op->mkdir(inode, dentry, 0);
}

/* No fact names it. */
int vfs_unknown(const struct path *path, struct kstat *stat)
{
	return path->inode->i_op->lookup(path, stat);
}

SYSCALL_DEFINE1(statx, struct path *, path)
{
	return vfs_getattr(path, 0);
}

SYSCALL_DEFINE1(mkdirat, struct path *, path)
{
	return vfs_mkdir(path->inode, path->dentry, 0);
}

SYSCALL_DEFINE1(fchmod, struct path *, path)
{
	return path->inode->i_op->setattr(path->inode, path->dentry);
}

SYSCALL_DEFINE1(access, struct path *, path)
{
	return path->inode->i_op->permission(path);
}

SYSCALL_DEFINE1(flock, struct path *, path)
{
	return path->inode->i_op->listxattr(path);
}
