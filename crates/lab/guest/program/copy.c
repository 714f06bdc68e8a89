// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a root on a file system that cannot be created with files in it: the agent mounts the disk
 * that contains the root, and copies all files, with owners, modes, times, devices, capabilities
 * and links.
 */
#include <linux/mount.h>
#include <linux/stat.h>
#include <linux/time.h>
#include "../agent.h"
#include "../getdents.h"

#define SOURCE		"/source"
#define HELD_BY		"ext4"
#define LOST_FOUND	"lost+found"	/* exists in each new file system */
/* Directory of the first names of files with several links, by inode number. */
#define LINKS		".lsmeter-links"
#define DEPTH_MAX	256	/* nested directories: two open files each */
#define CAPABILITY	"security.capability"
#define CAPABILITY_MAX	64

struct way {
	int from, to;		/* directories */
	int links;		/* LINKS; an open directory */
	const char *name;	/* the entry, in both directories */
};

static __attribute__((noreturn)) void gave_up(const char *doing, const char *name, long err)
{
	fatal("copying the root to %s: %s %s: %s (%ld)", experiment.fs, doing, name,
	      errno_name(err), -err);
}

static void must(long ret, const char *doing, const char *name)
{
	if (ret < 0)
		gave_up(doing, name, ret);
}

static void settle_at(int to, const char *name, const struct statx *found)
{
	char path[300];
	const struct timespec times[2] = {
		{ found->stx_atime.tv_sec, found->stx_atime.tv_nsec },
		{ found->stx_mtime.tv_sec, found->stx_mtime.tv_nsec },
	};

	must(SYS(fchownat, to, name, found->stx_uid, found->stx_gid, AT_SYMLINK_NOFOLLOW),
	     "chown of", name);
	/* Set after the owner, because chown clears set-user-ID bits. */
	if ((found->stx_mode & S_IFMT) != S_IFLNK)
		must(SYS(fchmodat, to, name, found->stx_mode & 07777), "chmod of", name);
	format(path, sizeof(path), "/proc/self/fd/%u/%s", to, name);
	policies_label_copied(path);
	must(SYS(utimensat, to, name, times, AT_SYMLINK_NOFOLLOW), "setting the times of", name);
}

static void copy_content(const struct way *way)
{
	char capability[CAPABILITY_MAX];
	long from, to, n, done, put;

	from = SYS(openat, way->from, way->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
	must(from, "opening", way->name);
	to = SYS(openat, way->to, way->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	must(to, "making", way->name);
	while ((n = sys_read(from, scratch, sizeof(scratch))) > 0) {
		for (done = 0; done < n; done += put) {
			put = sys_write(to, scratch + done, n - done);
			must(put, "writing", way->name);
		}
	}
	must(n, "reading", way->name);
	n = SYS(fgetxattr, from, CAPABILITY, capability, sizeof(capability));
	if (n > 0)
		must(SYS(fsetxattr, to, CAPABILITY, capability, n, 0),
		     "setting the capabilities of", way->name);
	sys_close(from);
	must(sys_close(to), "writing", way->name);
}

/* Links to an earlier copy of the same file, or else remembers this copy for later names. */
static int is_linked(const struct way *way, const struct statx *found, char *number, size_t size)
{
	if (found->stx_nlink == 1)
		return 0;
	format(number, size, "%lu", (unsigned long)found->stx_ino);
	return SYS(linkat, way->links, number, way->to, way->name, 0) == 0;
}

static void copy_directory(struct way way, unsigned int depth);

static void copy_one(const struct way *way, unsigned int depth)
{
	char target[4096], number[24];
	struct statx found;
	long n;

	must(SYS(statx, way->from, way->name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &found),
	     "looking at", way->name);
	switch (found.stx_mode & S_IFMT) {
	case S_IFDIR:
		n = SYS(mkdirat, way->to, way->name, 0700);
		must(n == -EEXIST ? 0 : n, "making", way->name);
		copy_directory(*way, depth);
		break;
	case S_IFREG:
		if (is_linked(way, &found, number, sizeof(number)))
			return;
		copy_content(way);
		if (found.stx_nlink > 1)
			must(SYS(linkat, way->to, way->name, way->links, number, 0),
			     "keeping", way->name);
		break;
	case S_IFLNK:
		n = SYS(readlinkat, way->from, way->name, target, sizeof(target) - 1);
		must(n, "reading the link", way->name);
		target[n] = '\0';
		must(SYS(symlinkat, target, way->to, way->name), "making", way->name);
		break;
	default:
		must(SYS(mknodat, way->to, way->name, found.stx_mode,
			 (found.stx_rdev_minor & 0xff) | found.stx_rdev_major << 8 |
			 (found.stx_rdev_minor & ~0xffu) << 12), "making", way->name);
	}
	settle_at(way->to, way->name, &found);
}

/* Copies the directory way->name; the caller sets its owner, mode and times. */
static void copy_directory(struct way way, unsigned int depth)
{
	char records[2048] __attribute__((aligned(8)));
	const char *directory = way.name;
	const struct dirent64 *entry;
	struct way below = way;
	long n, at;

	if (depth == DEPTH_MAX)
		gave_up("directories nested too deep at", directory, -ELOOP);
	below.from = SYS(openat, way.from, directory,
			 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	must(below.from, "opening", directory);
	below.to = SYS(openat, way.to, directory,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	must(below.to, "opening", directory);
	while ((n = SYS(getdents64, below.from, records, sizeof(records))) > 0) {
		for (at = 0; at < n; at += entry->d_reclen) {
			entry = dirent_at(records, n, at);
			if (!entry)
				gave_up("reading", directory, -EIO);
			if (is_dot_or_dotdot(entry->d_name) ||
			    (!depth && !strcmp(entry->d_name, LOST_FOUND)))
				continue;
			below.name = entry->d_name;
			copy_one(&below, depth + 1);
		}
	}
	must(n, "reading", directory);
	sys_close(below.from);
	sys_close(below.to);
}

void program_copy_root(const char *disk)
{
	struct way way = { .name = "." };
	struct statx found;
	char links[1100];

	must(sys_mkdir(SOURCE, 0700), "making", SOURCE);
	must(SYS(mount, disk, SOURCE, HELD_BY, MS_RDONLY, NULL), "mounting", disk);
	way.from = SYS(openat, AT_FDCWD, SOURCE, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	must(way.from, "opening", SOURCE);
	way.to = SYS(openat, AT_FDCWD, experiment.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	must(way.to, "opening", experiment.dir);
	must(SYS(mkdirat, way.to, LINKS, 0700), "making", LINKS);
	way.links = SYS(openat, way.to, LINKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	must(way.links, "opening", LINKS);
	copy_directory(way, 0);
	sys_close(way.links);
	format(links, sizeof(links), "%s/" LINKS, experiment.dir);
	must(remove_tree(links), "removing", LINKS);
	must(SYS(statx, way.from, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &found), "looking at",
	     SOURCE);
	settle_at(way.to, ".", &found);
	sys_close(way.from);
	sys_close(way.to);
	must(SYS(umount2, SOURCE, 0), "unmounting", SOURCE);
	SYS(rmdir, SOURCE);
}
