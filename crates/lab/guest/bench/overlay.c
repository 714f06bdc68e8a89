// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: operations on overlayfs, as in containers: open and close of a file in the lower
 * directory; mmap of it, and munmap; creat of a new file; open for writing, which copies up the
 * file with its attributes. Undo: close and unlink. Each copy-up has a new name, since an unlinked
 * name hides the lower file. Nothing is synced (`volatile`), because other tasks would do that
 * work.
 */
#include <linux/mman.h>
#include "mounts.h"

enum { OPEN, MMAP, CREAT, COPY_UP };	/* arg of variants */

#define NEXT		0	/* c->state[]: number of the next name */
#define MERGED		"merged/"
#define LOWER		"lower/"
#define SIZE		4096
#define OPTIONS		"lowerdir=lower,upperdir=upper,workdir=work"

/* A file below the overlay, with an attribute if the file system supports it. */
static int make_lower(const char *path)
{
	int ret = make_file(path, SIZE);

	if (!ret)
		SYS(setxattr, path, "user.lsmeter", "x", 1, 0);
	return ret;
}

static int setup(struct cell *c)
{
	static const char *const directories[] = { "lower", "upper", "work", "merged" };
	unsigned int i;
	long ret = 0;

	for (i = 0; ret >= 0 && i < ARRAY_SIZE(directories); i++)
		ret = sys_mkdir(directories[i], 0755);
	if (ret >= 0)
		ret = make_lower(LOWER "file");
	if (ret < 0)
		return ret;
	ret = SYS(mount, PADDED_NAME, "merged", "overlay", 0, c->variant->path);
	if (ret == -EINVAL)
		return unsupported(c, "no overlayfs on this file system", ret);
	return mount_result(c, ret);
}

static int prepare(struct cell *c, unsigned int i)
{
	char lower[SLOT_SIZE];

	if (c->variant->arg == MMAP) {
		*slot_fd(c, i) = sys_open(MERGED "file", O_RDONLY | O_CLOEXEC, 0);
		return *slot_fd(c, i);
	}
	if (c->variant->arg != COPY_UP)
		return 0;
	c->state[NEXT]++;
	format(slot_name(c, i), SLOT_SIZE, MERGED "%08lx", c->state[NEXT]);
	format(lower, sizeof(lower), LOWER "%08lx", c->state[NEXT]);
	return make_lower(lower);
}

static long op(struct cell *c, unsigned int i)
{
	long ret;

	switch (c->variant->arg) {
	case MMAP:
		ret = SYS(mmap, NULL, SIZE, PROT_READ, MAP_PRIVATE, *slot_fd(c, i), 0);
		return ret < 0 && ret > -4096 ? ret : SYS(munmap, ret, SIZE);
	case CREAT:
		ret = SYS(creat, MERGED "new", 0644);
		*slot_fd(c, i) = ret;
		return ret;
	case COPY_UP:
		ret = sys_open(slot_name(c, i), O_WRONLY | O_CLOEXEC, 0);
		*slot_fd(c, i) = ret;
		return ret;
	}
	ret = sys_open(MERGED "file", O_RDONLY | O_CLOEXEC, 0);
	return ret < 0 ? ret : sys_close(ret);
}

static int undo(struct cell *c, unsigned int i)
{
	if (c->variant->arg == OPEN)
		return 0;
	sys_close(*slot_fd(c, i));
	if (c->variant->arg == MMAP)
		return 0;
	return sys_unlink(c->variant->arg == CREAT ? MERGED "new" : slot_name(c, i));
}

/* A new or copied file is in the upper directory. */
static long look_above(struct cell *c)
{
	char path[SLOT_SIZE];
	long fd;

	if (c->variant->arg == CREAT)
		format(path, sizeof(path), "upper/new");
	else
		format(path, sizeof(path), "upper/%08lx", c->state[NEXT]);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	return fd < 0 ? fd : sys_close(fd);
}

static int check(struct cell *c)
{
	long ret = prepare(c, 0), fd;

	if (c->variant->arg == COPY_UP && ret >= 0 && look_above(c) != -ENOENT)
		return failed(c, "overlayfs: copied too early", 0);
	if (ret >= 0)
		ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (c->variant->arg == CREAT || c->variant->arg == COPY_UP) {
		ret = look_above(c);
		return ret < 0 ? failed(c, "overlayfs: not in the upper directory", ret) : undo(c, 0);
	}
	fd = sys_open(MERGED "missing", O_RDONLY | O_CLOEXEC, 0);
	return fd == -ENOENT ? undo(c, 0) : failed(c, "overlayfs: wrong result", fd);
}

static void teardown(struct cell *c)
{
	SYS(umount2, "merged", 0);
}

BENCH("overlay", FILE, ADMIN, 21, "a file of overlayfs: open, mmap, creat, and copied up",
      .source = "overlayfs: Documentation/filesystems/overlayfs.rst", .syscalls = "open close",
      .max_batch = 1,
      .variants = VARIANTS({ "open", .path = OPTIONS, .arg = OPEN, .modules = "overlay" },
			   { "mmap", .path = OPTIONS, .arg = MMAP, .modules = "overlay",
			     .syscalls = "mmap munmap" },
			   { "creat", .path = OPTIONS, .arg = CREAT, .modules = "overlay",
			     .syscalls = "creat" },
			   { "copy-up", .path = OPTIONS ",volatile", .arg = COPY_UP,
			     .modules = "overlay", .syscalls = "open" }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
