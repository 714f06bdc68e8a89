/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tmpfs mounts below the working directory. */
#ifndef LSMETER_MOUNTS_H
#define LSMETER_MOUNTS_H

#include <linux/mount.h>
#include "slots.h"

#define PLACE	"place"

/* c->fd[]: previous directories of a benchmark that changes its root */
enum { OLD_ROOT = 6, OLD_DIR = 7 };

static inline long mount_tmpfs(const char *path, unsigned long flags, const char *options)
{
	return SYS(mount, PADDED_NAME, path, "tmpfs", flags, options);
}

/* Turns an error of a mount call into the measurement's result. */
static inline int mount_result(struct cell *c, long ret)
{
	if (ret == -EPERM || ret == -EACCES || ret == -ENODEV || ret == -ENOSYS)
		return unsupported(c, "nothing that this user may mount", ret);
	return ret < 0 ? ret : 0;
}

/* For setup(): a new directory with a tmpfs on it. */
static inline int make_mount(struct cell *c, const char *path)
{
	long ret = sys_mkdir(path, 0755);

	if (ret >= 0)
		ret = mount_tmpfs(path, 0, NULL);
	return mount_result(c, ret);
}

/* Saves root and working directory for go_back(). */
static inline int remember_root(struct cell *c)
{
	int ret = open_as(c, OLD_ROOT, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return ret < 0 ? ret : open_as(c, OLD_DIR, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static inline int go_back(struct cell *c)
{
	long ret = SYS(fchdir, c->fd[OLD_ROOT]);

	if (ret >= 0)
		ret = SYS(chroot, ".");
	return ret < 0 ? ret : SYS(fchdir, c->fd[OLD_DIR]);
}

static inline void forget_root(struct cell *c)
{
	close_as(c, OLD_ROOT);
	close_as(c, OLD_DIR);
}

#endif
