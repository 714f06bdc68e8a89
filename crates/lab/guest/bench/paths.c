// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths and names shared by the paper's benchmarks. */
#include <asm/stat.h>
#include "paths.h"

enum lookup_kind {
	LOOKUP_FILE,
	LOOKUP_HARDLINK,
	LOOKUP_SYMLINK,
	LOOKUP_MISSING,
};

#define PATH(p, deep) \
	{ .name = p, .path = p, .arg = LOOKUP_FILE, .depth = deep }
#define LOOKUP(named, p, kind)	{ .name = named, .path = p, .arg = kind }

const struct variant lookup_variants[] = {
	PATH("AA", 1),
	PATH("AA/BB", 2),
	PATH("AA/BB/CC", 3),
	PATH("AA/BB/CC/DD", 4),
	PATH("AA/BB/CC/DD/EE", 5),
	PATH("AA/BB/CC/DD/EE/FF", 6),
	PATH("AA/BB/CC/DD/EE/FF/GG", 7),
	PATH("AA/BB/CC/DD/EE/FF/GG/HH", 8),
	LOOKUP("hardlink", "HL", LOOKUP_HARDLINK),
	LOOKUP("symlink", "SL", LOOKUP_SYMLINK),
	LOOKUP("missing", "ZZ", LOOKUP_MISSING),
	PATH("AA/../HH", 0),
	PATH("XX/YY/../../AA/BB/../../HH", 0),
	{ }
};

#define DEEP(deep, p) \
	{ .name = "depth" #deep, .path = p, .arg = deep, .depth = deep }

const struct variant depth_variants[] = {
	DEEP(1, ""),
	DEEP(2, "AA/"),
	DEEP(3, "AA/BB/"),
	DEEP(4, "AA/BB/CC/"),
	DEEP(5, "AA/BB/CC/DD/"),
	{ }
};

const struct variant rw_variants[] = {
	{ .name = "0KB", .arg = 0 },
	{ .name = "1KB", .arg = 1024 },
	{ .name = "2KB", .arg = 2048 },
	{ .name = "4KB", .arg = 4096 },
	{ }
};

char slot_name[SLOTS][SLOT_LEN];
char slot_other[SLOTS][SLOT_LEN];
char dir_name[DIR_NAMES][8];

int make_lookup_file(struct cell *c)
{
	const char *path = c->variant->path;
	long err;

	format(c->path, sizeof(c->path), "%s", path);
	c->state[0] = 0;
	switch (c->variant->arg) {
	case LOOKUP_HARDLINK:
		err = make_file("AA", 0);
		if (err == 0)
			err = SYS(link, "AA", path);
		/* Not every file system has hard links. */
		if (err == -EPERM || err == -EOPNOTSUPP)
			return unsupported(c, "link", err);
		return err < 0 ? failed(c, "link", err) : 0;
	case LOOKUP_SYMLINK:
		err = make_file("AA", 0);
		if (err == 0)
			err = SYS(symlink, "AA", path);
		if (err == 0)
			err = settle_atime(path);
		if (err == -EPERM || err == -EOPNOTSUPP)
			return unsupported(c, "symlink", err);
		return err < 0 ? failed(c, "symlink", err) : 0;
	case LOOKUP_MISSING:
		c->state[0] = -ENOENT;
		return 0;
	}
	err = make_dirs(path);
	if (err < 0)
		return failed(c, "mkdir", err);
	err = make_file(path, 0);
	return err < 0 ? failed(c, "creating the file", err) : 0;
}

void random_name(struct cell *c, char dst[SLOT_LEN], const char *prefix)
{
	format(dst, SLOT_LEN, "%s%016lx", prefix, random_u64(c));
	c->is_named = 1;
}

void random_slots(struct cell *c, const char *prefix)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		random_name(c, slot_name[i], prefix);
}

int make_dir_names(struct cell *c)
{
	unsigned int i;

	for (i = 0; i < DIR_NAMES; i++)
		format(dir_name[i], sizeof(dir_name[i]), "d%04u", i + c->number * DIR_NAMES);
	c->is_named = 1;
	return 0;
}

int file_size(const char *path, long *size)
{
	struct stat st;
	long err = SYS(lstat, path, &st);

	if (err == 0)
		*size = st.st_size;
	return err;
}

int file_mode(const char *path, unsigned int *mode)
{
	struct stat st;
	long err = SYS(lstat, path, &st);

	if (err == 0)
		*mode = st.st_mode;
	return err;
}

/*
 * A page's first accesses take other paths than later ones: they mark the page as referenced, and
 * then move it to the active list. The warm-up may not access every page often enough, so
 * make_rw_file() does. A page waits in a per-CPU batch before it is added to its list. Two calls
 * that have no other effect here make the kernel drain that batch (mm/fadvise.c, mm/mlock.c:
 * lru_add_drain()).
 */
#define RW_FILE_PASSES	4

static void drain_page_batches(struct cell *c, int fd)
{
	SYS(fadvise64, fd, 16L * RW_FILE_SIZE, PAGE_SIZE, 4 /* DONTNEED */);
	SYS(munlock, c->buffer, PAGE_SIZE);
	SYS(mlock, c->buffer, PAGE_SIZE);
}

int make_rw_file(struct cell *c, const char *path)
{
	unsigned int pass;
	long n = make_file(path, RW_FILE_SIZE), fd;

	if (n < 0)
		return n;
	fd = sys_open(path, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	for (pass = 0; pass < RW_FILE_PASSES && n >= 0; pass++) {
		n = SYS(lseek, fd, 0, 0);
		while (n >= 0 && (n = sys_read(fd, c->buffer, PAGE_SIZE)) > 0)
			;
		drain_page_batches(c, fd);
	}
	sys_close(fd);
	return n < 0 ? n : 0;
}
