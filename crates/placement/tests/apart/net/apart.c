// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

struct net_box {
	const struct other_ops *ops;
};

static int net_set(struct path *path)
{
	while (more(path))
		security_inode_permission(path->inode, 0);
	return net_set(path);
}

static const struct net_handler net_handler = {
	.set = net_set,
};

/* Not known to the facts: the network is read for it. */
SYSCALL_DEFINE1(apart, struct path *, path)
{
	return find(path)->ops->go(path);
}
