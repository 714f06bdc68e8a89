// SPDX-License-Identifier: GPL-2.0-or-later
/* System calls on files, whose calls through pointers other directories could answer. */
#include <linux/fs.h>

struct box_ops {
	int (*go)(struct path *path);
};

struct box {
	const struct box_ops *ops;
};

static int box_go(struct path *path)
{
	return security_inode_getattr(path);
}

static int other_go(struct path *path)
{
	return security_path_mkdir(path, path->dentry, 0);
}

static const struct box_ops box_ops = {
	.go = box_go,
};

static const struct other_ops other_ops = {
	.go = other_go,
};

/* The type of `ops` is known from the struct; net and otherfs have structs with another. */
SYSCALL_DEFINE1(chdir, struct path *, path)
{
	return find(path)->ops->go(path);
}

static int plain_set(struct path *path)
{
	return security_inode_getattr(path);
}

static const struct handler plain_handler = {
	.set = plain_set,
};

/* The type of the handler is not known; net has one, too. */
SYSCALL_DEFINE1(chroot, struct path *, path)
{
	return find_handler(path).set(path);
}

static void ring_first(struct path *path)
{
	security_inode_getattr(path);
	ring_second(path);
}

static void ring_second(struct path *path)
{
	security_inode_permission(path->inode, 0);
	ring_first(path);
}

/* The same circle of calls, entered at either end. */
SYSCALL_DEFINE1(fchdir, struct path *, path)
{
	ring_first(path);
	return 0;
}

SYSCALL_DEFINE1(fsync, struct path *, path)
{
	ring_second(path);
	return 0;
}
