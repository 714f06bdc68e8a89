// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

struct otherfs_box {
	const struct other_ops *ops;
};

static int otherfs_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return security_path_mkdir(dir, dentry, mode);
}

static const struct inode_operations otherfs_dir_operations = {
	.mkdir		= otherfs_mkdir,
};
