// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A module with two hooks, one of them under a condition.
 */
#include <linux/lsm_hooks.h>

static int toy_inode_permission(struct inode *inode, int mask)
{
	return 0;
}

static int toy_path_mkdir(const struct path *dir, struct dentry *dentry, umode_t mode)
{
	/* A hook that asks another one. */
	return security_inode_getattr(dir);
}

static struct security_hook_list toy_hooks[] __ro_after_init = {
	LSM_HOOK_INIT(inode_permission, toy_inode_permission),
#ifdef CONFIG_SECURITY_PATH
	LSM_HOOK_INIT(path_mkdir, toy_path_mkdir),
#endif
};

DEFINE_LSM(toy) = {
	.name = "toy",
	.init = toy_init,
};
