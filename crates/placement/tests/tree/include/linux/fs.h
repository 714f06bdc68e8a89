/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_FS_H
#define _LINUX_FS_H

struct inode_operations {
	int (*getattr)(const struct path *path, struct kstat *stat);
	int (*mkdir)(struct inode *dir, struct dentry *dentry, umode_t mode);
};

struct inode {
	const struct inode_operations *i_op;
	struct super_block	*i_sb;
};

static inline int vfs_ready(struct inode *inode)
{
	return inode_permission(inode, MAY_EXEC);
}

#endif
