// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's allocator before a program runs. What it takes to free an object depends on which
 * slab it lies in, and that on the holes that all before has left in slabs: some 90 instructions
 * more or less for each, which for a walk of many directories is more than some modules cost. So
 * the holes are filled with what stays, and the kernel's general caches each begin with a new slab.
 * All this is before anything is counted.
 *
 * What stays is files in memory: links whose targets are of a cache's size (shmem_symlink() in
 * mm/shmem.c), for larger ones access control lists (posix_acl_alloc() in fs/posix_acl.c), and their
 * inodes, of which modules keep something. A kernel that does not tell of its caches, or has
 * others, goes without.
 */
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include "../agent.h"
#include "slabs.h"

#define HOLDER		"/slabs"
#define CACHES		"/sys/kernel/slab/"
#define MOST		8192u	/* objects that one cache gets at a time */
#define ACL_HEAD	32u	/* what a list takes beside its entries: at most that, or 8 bytes less */
#define ENTRIES_MAX	(4096u / 8)
#define PAGES		16u	/* as many as a pipe holds */

static long take_link(unsigned int size);
static long take_list(unsigned int size);
static long take_file(unsigned int size);

static struct cache {
	const char *name;
	long (*take)(unsigned int size);
	unsigned int size;
	/*
	 * Its slabs are of several pages: an object in the first is found by fewer instructions
	 * (compound_head()). Which one that is is chance in each slab, but of one slab the object that
	 * was freed last is taken first, again and again.
	 */
	int only_first;
	long shrink;		/* its files in CACHES; open */
	long total;
} caches[] = {
	{ "kmalloc-8", take_link, 8, 0, -1, -1 },
	{ "kmalloc-16", take_link, 16, 0, -1, -1 },
	{ "kmalloc-32", take_link, 32, 0, -1, -1 },
	{ "kmalloc-64", take_link, 64, 0, -1, -1 },
	{ "kmalloc-96", take_link, 96, 0, -1, -1 },
	{ "kmalloc-128", take_link, 128, 0, -1, -1 },
	{ "kmalloc-192", take_list, 192, 0, -1, -1 },
	{ "kmalloc-256", take_list, 256, 0, -1, -1 },
	{ "kmalloc-512", take_list, 512, 0, -1, -1 },
	{ "kmalloc-1k", take_list, 1024, 1, -1, -1 },
	{ "kmalloc-2k", take_list, 2048, 1, -1, -1 },
	{ "kmalloc-4k", take_list, 4096, 1, -1, -1 },
	/* Last: all others have used it, too. */
	{ "lsm_inode_cache", take_file, 0, 0, -1, -1 },
};

static int holds;		/* HOLDER is in memory */
static unsigned int names;

static long open_file(const struct cache *cache, const char *name, int flags)
{
	char path[80];

	format(path, sizeof(path), CACHES "%s/%s", cache->name, name);
	return sys_open(path, flags | O_CLOEXEC, 0);
}

void slabs_open(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(caches); i++) {
		caches[i].shrink = open_file(&caches[i], "shrink", O_WRONLY);
		caches[i].total = open_file(&caches[i], "total_objects", O_RDONLY);
	}
	sys_mkdir(HOLDER, 0700);
	holds = SYS(mount, "tmpfs", HOLDER, "tmpfs", 0, "nr_inodes=0") == 0;
}

void slabs_forget(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(caches); i++) {
		sys_close(caches[i].shrink);
		sys_close(caches[i].total);
	}
}

/* How many objects a cache has, used or not; negative if it does not tell. */
static long objects_of(const struct cache *cache)
{
	char text[64];
	long n = SYS(pread64, cache->total, text, sizeof(text), 0), at, number = 0;

	for (at = 0; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		number = number * 10 + text[at] - '0';
	return n > 0 ? number : -EIO;
}

/* The path of a file that is not there yet. */
static const char *next_path(void)
{
	static char path[32];

	format(path, sizeof(path), HOLDER "/%u", names++);
	return path;
}

static long take_link(unsigned int size)
{
	char target[128];
	unsigned int i;

	for (i = 0; i < size - 1; i++)
		target[i] = 'x';
	target[i] = '\0';
	return SYS(symlink, target, next_path());
}

static long take_file(unsigned int size)
{
	(void)size;
	return SYS(mknod, next_path(), S_IFREG | 0600, 0);
}

static long take_list(unsigned int size)
{
	static struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry entry[ENTRIES_MAX];
	} list = { .head = { POSIX_ACL_XATTR_VERSION } };
	unsigned int i, n = (size - ACL_HEAD) / sizeof(list.entry[0]);
	const char *path = next_path();
	long err;

	/* In their order: the owner, others by name, the group, the mask, the rest. */
	for (i = 0; i < n; i++)
		list.entry[i] = (struct posix_acl_xattr_entry){ ACL_USER, 0, i };
	list.entry[0] = (struct posix_acl_xattr_entry){ ACL_USER_OBJ, 0, ACL_UNDEFINED_ID };
	list.entry[n - 3] = (struct posix_acl_xattr_entry){ ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID };
	list.entry[n - 2] = (struct posix_acl_xattr_entry){ ACL_MASK, 0, ACL_UNDEFINED_ID };
	list.entry[n - 1] = (struct posix_acl_xattr_entry){ ACL_OTHER, 0, ACL_UNDEFINED_ID };
	err = SYS(mknod, path, S_IFREG | 0600, 0);
	if (err < 0)
		return err;
	return SYS(setxattr, path, "system.posix_acl_access", &list,
		   sizeof(list.head) + n * sizeof(list.entry[0]), 0);
}

void slabs_fill(int first)
{
	unsigned int i, n;
	long before;

	for (i = 0; i < ARRAY_SIZE(caches) && holds; i++) {
		const struct cache *cache = &caches[i];

		if (cache->only_first && !first)
			continue;
		/* Empty slabs go: they need not be filled. */
		if (sys_write(cache->shrink, "1", 1) != 1)
			continue;
		before = objects_of(cache);
		for (n = 0; n < MOST && before >= 0 && objects_of(cache) <= before; n++)
			if (cache->take(cache->size) < 0)
				break;
	}
}

void pages_leave(void)
{
	char page[4096];
	unsigned int i;
	int ends[2];

	if (SYS(pipe2, ends, 0) < 0)
		return;
	memset(page, 0, sizeof(page));
	for (i = 0; i < PAGES; i++)
		sys_write(ends[1], page, sizeof(page));
	sys_close(ends[0]);
	sys_close(ends[1]);
}
