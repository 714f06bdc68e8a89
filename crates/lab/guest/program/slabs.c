// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of the kernel's allocator before a program runs. The cost of freeing an object depends
 * on its slab, and thus on holes that earlier work left in slabs: about 90 instructions per object,
 * which for a walk of many directories exceeds the cost of some modules. So the holes are filled
 * with permanent objects, and the kernel's general caches each begin with a new slab. All this
 * happens before the measurement.
 *
 * The permanent objects are files in memory: symbolic links with targets of a cache's size
 * (shmem_symlink() in mm/shmem.c), for larger ones access control lists (posix_acl_alloc() in
 * fs/posix_acl.c), and their inodes, for which modules allocate as well. It does nothing on a
 * kernel that does not report its caches, or has different ones.
 */
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include "../agent.h"
#include "slabs.h"

#define HOLDER		"/slabs"
#define CACHES		"/sys/kernel/slab/"
#define MOST		8192u	/* objects that one cache gets at a time */
#define ACL_HEAD	32u	/* of a list, before its entries: this size, or 8 bytes less */
#define ENTRIES_MAX	(4096u / 8)
#define PAGES		16u	/* capacity of a pipe */

static long take_link(unsigned int size);
static long take_list(unsigned int size);
static long take_file(unsigned int size);

static struct cache {
	const char *name;
	long (*take)(unsigned int size);
	unsigned int size;
	/*
	 * Its slabs have several pages, and an object in the first page is found with fewer
	 * instructions (compound_head()). The choice is random for each slab, but within a slab
	 * the object freed last is used first, again and again.
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
	/* This cache is last, because all others use it as well. */
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

/* The number of objects in a cache, used or not; negative if unknown. */
static long objects_of(const struct cache *cache)
{
	char text[64];
	long n = SYS(pread64, cache->total, text, sizeof(text), 0), at, number = 0;

	for (at = 0; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		number = number * 10 + text[at] - '0';
	return n > 0 ? number : -EIO;
}

/* The path of a file that does not exist yet. */
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

	/* The entries in order: owner, other users by name, group, mask, others. */
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
		/* Frees empty slabs, which need not be filled. */
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
