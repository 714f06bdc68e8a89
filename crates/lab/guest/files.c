// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets up files and directories, and removes them. */
#include "agent.h"
#include "getdents.h"

#include "settings/labels.h"
#include "settings/signed.h"

#define TREE_DEPTH_MAX	64
#ifndef ARCH_RECORDS_SIZE
#define ARCH_RECORDS_SIZE	2048	/* of entries, on the stack at each depth */
#endif

int settle_atime(const char *path)
{
	struct {
		s64 sec, nsec;
	} times[2];
	long err;

	err = SYS(clock_gettime, 0 /* CLOCK_REALTIME */, &times[0]);
	if (err < 0)
		return err;
	times[0].sec += 3600;
	times[1].nsec = (1L << 30) - 2;	/* UTIME_OMIT */
	return SYS(utimensat, AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

int make_file(const char *path, size_t size)
{
	const size_t whole = size;
	char block[512];
	long fd, n;

	memset(block, 'x', sizeof(block));
	next_label();
	fd = sys_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	no_label();
	if (fd < 0)
		return fd;
	while (size) {
		n = sys_write(fd, block, size < sizeof(block) ? size : sizeof(block));
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			sys_close(fd);
			return n ? n : -EIO;
		}
		size -= n;
	}
	n = sys_close(fd);
	if (n < 0)
		return n;
	n = sign_file(path, whole);
	if (n < 0)
		return n;
	return whole ? settle_atime(path) : 0;
}

int make_dirs(const char *path)
{
	char dir[1024];
	size_t i;
	long err;

	for (i = 0; path[i]; i++) {
		if (i + 1 >= sizeof(dir))
			return -ENAMETOOLONG;
		dir[i] = path[i];
		if (i == 0 || path[i] != '/')
			continue;
		dir[i] = '\0';
		err = sys_mkdir(dir, 0755);
		if (err < 0 && err != -EEXIST)
			return err;
		dir[i] = '/';
	}
	return 0;
}

static long remove_at(int parent, const char *name, unsigned int depth);

/* One pass over a directory; returns the number of removed entries, or -errno. */
static long empty_once(int fd, unsigned int depth)
{
	char buf[ARCH_RECORDS_SIZE] __attribute__((aligned(8)));
	const struct dirent64 *entry;
	long n, pos, err, removed = 0;

	for (;;) {
		n = SYS(getdents64, fd, buf, sizeof(buf));
		if (n <= 0)
			return n < 0 ? n : removed;
		for (pos = 0; pos < n; pos += entry->d_reclen) {
			entry = dirent_at(buf, n, pos);
			if (!entry)
				return -EIO;
			if (is_dot_or_dotdot(entry->d_name))
				continue;
			err = remove_at(fd, entry->d_name, depth + 1);
			if (err < 0)
				return err;
			removed++;
		}
	}
}

static long remove_at(int parent, const char *name, unsigned int depth)
{
	long err, fd;

	err = SYS(unlinkat, parent, name, 0);
	/* A policy may refuse the call before the kernel notices that this is a directory. */
	if (err != -EISDIR && err != -EPERM && err != -EACCES)
		return err == -ENOENT ? 0 : err;
	if (depth >= TREE_DEPTH_MAX)
		return -ELOOP;
	fd = SYS(openat, parent, name,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	/* Some file systems skip entries while others are being removed. */
	do {
		err = SYS(lseek, fd, 0, 0);
		if (err == 0)
			err = empty_once(fd, depth);
	} while (err > 0);
	sys_close(fd);
	if (err < 0)
		return err;
	return SYS(unlinkat, parent, name, AT_REMOVEDIR);
}

int remove_tree(const char *path)
{
	return remove_at(AT_FDCWD, path, 0);
}
