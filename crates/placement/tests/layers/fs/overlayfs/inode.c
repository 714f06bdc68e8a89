// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

static int ovl_getattr(const struct path *path, struct kstat *stat)
{
	return vfs_getattr(real(path), stat);
}

static int ovl_mkdir(struct inode *dir, struct dentry *dentry, umode_t mode)
{
	return vfs_mkdir(upper(dir), dentry, mode);
}

static int ovl_setattr(struct inode *inode, struct dentry *dentry)
{
	return setattr_prepare(inode, dentry);
}

/* Either the layer's or its own inode: its own would lead here again. */
static int ovl_lookup(const struct path *path, struct kstat *stat)
{
	security_inode_getattr(path);
	return vfs_unknown(path, stat);
}

static int ovl_permission(const struct path *path)
{
	return ovl_lookup(path, 0);
}

/* A pointer in overlayfs leads to the layer. */
static int ovl_listxattr(const struct path *path)
{
	return path->inode->i_op->mkdir(path->inode, path->dentry, 0);
}

static const struct inode_operations ovl_dir_inode_operations = {
	.getattr	= ovl_getattr,
	.mkdir		= ovl_mkdir,
	.setattr	= ovl_setattr,
	.lookup		= ovl_lookup,
	.permission	= ovl_permission,
	.listxattr	= ovl_listxattr,
};
