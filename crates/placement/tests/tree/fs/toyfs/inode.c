// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

static int toyfs_getattr(const struct path *path, struct kstat *stat)
{
	return 0;
}

static int toyfs_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return vfs_ready(dir);
}

static const struct inode_operations toyfs_dir_operations = {
	.getattr	= toyfs_getattr,
	.mkdir		= toyfs_mkdir,
};
