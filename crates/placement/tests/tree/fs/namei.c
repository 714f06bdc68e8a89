// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

int inode_permission(struct inode *inode, int mask)
{
	if (unlikely(mask & MAY_WRITE) && IS_IMMUTABLE(inode))
		return -EPERM;
	return security_inode_permission(inode, mask);
}

static int link_path_walk(const char *name, struct nameidata *nd)
{
	int err;

	if (!*name)
		return 0;
	for (;;) {
		err = inode_permission(nd->inode, MAY_EXEC);
		if (err)
			return err;
		name = next_component(name);
		if (!*name)
			return 0;
	}
}

int filename_lookup(struct filename *name, struct path *path)
{
	struct nameidata nd;
	int retval = link_path_walk(name->name, &nd);

	if (unlikely(retval == -ECHILD))
		retval = link_path_walk(name->name, &nd);
	return retval;
}

void iput(struct inode *inode)
{
	security_inode_free(inode);
}

SYSCALL_DEFINE2(mkdir, const char __user *, pathname, umode_t, mode)
{
	struct path path;
	int error;

retry:
	error = filename_lookup(pathname, &path);
	if (error)
		goto out;
	for_each_guest(guest, &path)
		security_path_mkdir(&path, guest, mode);
	if (!path.inode->i_op->mkdir)
		return -EPERM;
	error = security_path_mkdir(&path, dentry, mode);
	if (!error)
		error = path.inode->i_op->mkdir(path.inode, dentry, mode);
	iput(path.inode);
	if (retry_estale(error, flags))
		goto retry;
out:
	return error;
}
