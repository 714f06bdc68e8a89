/* SPDX-License-Identifier: GPL-2.0-or-later */
LSM_HOOK(int, 0, inode_permission, struct inode *inode, int mask)
LSM_HOOK(int, 0, inode_getattr, const struct path *path)
LSM_HOOK(void, LSM_RET_VOID, inode_free_security, struct inode *inode)
#ifdef CONFIG_SECURITY_PATH
LSM_HOOK(int, 0, path_mkdir, const struct path *dir, struct dentry *dentry,
	 umode_t mode)
#endif
