// SPDX-License-Identifier: GPL-2.0
/* Functions that are called by another name than the one that a table sets. */
#include <linux/fs.h>

struct listener {
	int (*hear)(struct path *path);
};

struct listener_config {
	int (*input)(struct path *path);
};

struct other_config {
	int (*input)(struct path *path);
};

static int on_stat(struct path *path)
{
	return security_inode_getattr(path);
}

static int on_mkdir(struct path *path)
{
	return security_path_mkdir(path, path->dentry, 0);
}

struct small_config {
	int (*take)(struct path *path);
};

static int on_free(struct path *path)
{
	security_inode_free(path->dentry->d_inode);
	return 0;
}

static const struct listener_config config = {
	.input = on_stat,
};

static const struct other_config other = {
	.input = on_mkdir,
};

static const struct small_config small[] = {
	{ .take = on_free },
};

struct family {
	const struct small_config *small;
};

struct big_config {
	int (*take)(struct path *path);
};

void from_small(struct big_config *big, const struct family *family, int i)
{
	big->take = family->small[i].take;
}

void listen_to(struct listener *listener, const struct listener_config *cfg)
{
	listener->hear = cfg->input;
}

/* The member is copied from another. */
SYSCALL_DEFINE2(tell, struct listener *, listener, struct path *, path)
{
	return listener->hear(path);
}

/* A variable holds the member. */
SYSCALL_DEFINE2(hold, const struct other_config *, cfg, struct path *, path)
{
	int (*input)(struct path *path);

	input = cfg->input;
	if (!input)
		input = on_stat;
	return input(path);
}

/* The member is copied from one of an array that a member points to. */
SYSCALL_DEFINE2(choose, struct big_config *, big, struct path *, path)
{
	return big->take(path);
}
