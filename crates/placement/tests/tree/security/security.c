// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/lsm_hooks.h>

int security_inode_permission(struct inode *inode, int mask)
{
	return call_int_hook(inode_permission, inode, mask);
}

int security_inode_getattr(const struct path *path)
{
	return call_int_hook(inode_getattr, path);
}

void security_inode_free(struct inode *inode)
{
	call_void_hook(inode_free_security, inode);
}

#ifdef CONFIG_SECURITY_PATH
int security_path_mkdir(const struct path *dir, struct dentry *dentry, umode_t mode)
{
	return call_int_hook(path_mkdir, dir, dentry, mode);
}
#endif
