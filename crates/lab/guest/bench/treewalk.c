// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree walk from the e-mail about the credentials patch. It stats and opens every regular file
 * and directory, and reads every directory and recurses into it, but reads no file.
 *
 * One operation is one walk. These regions cover all its kernel work: stat and open of the top
 * directory; stat, open, close of each regular file; stat, open of each other directory; each
 * getdents64; the close of each directory. Nothing to undo.
 *
 * The tree: directory k (from 1) is in directory (k - 1) / 4, so that 266 are 1 + 4 + 16 + 64 + 181
 * on five levels. Files are spread evenly; the first directories have one more. Paths are relative
 * to the working directory and grow with the depth, as in a walk that joins names.
 *
 * full-read-only: as in the e-mail, the file system is mounted -o ro,noatime before the walks.
 * This is done only to a VM's own file system.
 */
#include <asm/stat.h>
#include "getdents.h"
#include "slots.h"

#define TOP		"tree"
#define FAN_OUT		4
#define MAX_LEVELS	8
#define RECORDS_SIZE	(8 * 1024)	/* MAX_LEVELS of them fill the buffer */
#define MAX_NAME	64
#define READ_ONLY	"ro"	/* a variant's path */

/* From mount(2); the headers of the suite's kernel differ. */
#define REMOUNT		0x20ul	/* MS_REMOUNT */
#define RDONLY		0x01ul
#define NOATIME		0x400ul

struct level {
	int fd;
	long len;		/* bytes of records */
	long pos;
	size_t path_len;	/* of the directory, without a final '/' */
};

struct count {
	long dirs;
	long files;
};

/* Writes the path of directory k to path. */
static size_t directory_path(char *path, size_t size, unsigned long k)
{
	unsigned long chain[MAX_LEVELS];
	unsigned int depth = 0;
	size_t len;

	for (; k && depth < MAX_LEVELS; k = (k - 1) / FAN_OUT)
		chain[depth++] = k;
	len = format(path, size, TOP);
	while (depth--)
		len += format(path + len, size - len, "/directory%03lu", chain[depth]);
	return len;
}

/* The measured file system, which is mounted one directory above. */
static long remount(unsigned long flags)
{
	return SYS(mount, "none", "..", NULL, REMOUNT | flags, NULL);
}

static int make_read_only(struct cell *c)
{
	long err = remount(RDONLY | NOATIME);

	if (err == -EPERM || err == -EACCES)
		return unsupported(c, "remount", err);
	return err < 0 ? failed(c, "remount", err) : 0;
}

static int setup(struct cell *c)
{
	unsigned long dirs = c->variant->arg, files = c->variant->arg2;
	unsigned long d, f, n;
	size_t len;
	int ret;

	if (c->variant->path && SYS(getpid) != 1)
		return unsupported(c, "the file system is not a VM's own", 0);
	for (d = 0; d < dirs; d++) {
		len = directory_path(c->path, sizeof(c->path), d);
		ret = sys_mkdir(c->path, 0755);
		if (ret < 0)
			goto fail;
		n = files / dirs + (d < files % dirs);
		for (f = 0; f < n; f++) {
			format(c->path + len, sizeof(c->path) - len, "/file%08x",
			       (unsigned int)((random_u64(c) << 8 | f) & 0xffffffff));
			ret = make_file(c->path, 0);
			if (ret < 0)
				goto fail;
		}
	}
	for (d = 0; d < dirs; d++) {
		directory_path(c->path, sizeof(c->path), d);
		ret = settle_atime(c->path);
		if (ret < 0)
			goto fail;
	}
	return c->variant->path ? make_read_only(c) : 0;
fail:
	if (ret == -ENOSPC)
		return unsupported(c, "the file system has no room for the tree", ret);
	return ret;
}

static inline __attribute__((always_inline)) void begin(int measured)
{
	if (measured)
		window_begin();
}

static inline __attribute__((always_inline)) void end(int measured)
{
	if (measured)
		window_end();
}

/*
 * Always inlined, so that check(), which runs outside any operation, executes no marker. If an
 * error leaves a descriptor open, it is closed with the others below.
 */
static inline __attribute__((always_inline)) long
walk(struct cell *c, struct count *count, int measured)
{
	struct level levels[MAX_LEVELS], *level = levels;
	struct dirent64 *entry;
	struct stat st;
	size_t name_len;
	char *records;
	long ret, fd;

	level->path_len = format(c->path, sizeof(c->path), TOP);
	begin(measured);
	ret = SYS(stat, c->path, &st);
	fd = sys_open(c->path, O_RDONLY, 0);
	end(measured);
	if (ret < 0 || fd < 0)
		return ret < 0 ? ret : fd;
	level->fd = fd;
	level->len = level->pos = 0;
	count->dirs++;

	for (;;) {
		records = c->buffer + (level - levels) * RECORDS_SIZE;
		if (level->pos == level->len) {
			begin(measured);
			ret = SYS(getdents64, level->fd, records, RECORDS_SIZE);
			end(measured);
			if (ret < 0)
				break;
			level->len = ret;
			level->pos = 0;
			if (ret > 0)
				continue;
			begin(measured);
			ret = sys_close(level->fd);
			end(measured);
			if (level-- == levels)
				return ret;
			if (ret < 0)
				break;
			continue;
		}

		entry = dirent_at(records, level->len, level->pos);
		if (!entry) {
			ret = -EIO;
			break;
		}
		level->pos += entry->d_reclen;
		if (is_dot_or_dotdot(entry->d_name))
			continue;

		name_len = strlen(entry->d_name);
		if (name_len > MAX_NAME) {
			ret = -ENAMETOOLONG;
			break;
		}
		c->path[level->path_len] = '/';
		memcpy(c->path + level->path_len + 1, entry->d_name, name_len + 1);

		begin(measured);
		ret = SYS(stat, c->path, &st);
		if (ret >= 0) {
			ret = fd = sys_open(c->path, O_RDONLY, 0);
			if (ret >= 0 && S_ISREG(st.st_mode))
				sys_close(fd);
		}
		end(measured);
		if (ret < 0)
			break;
		if (S_ISREG(st.st_mode)) {
			count->files++;
			continue;
		}
		count->dirs++;
		if (level == levels + MAX_LEVELS - 1) {
			sys_close(fd);
			ret = -ELOOP;
			break;
		}
		level[1].path_len = level->path_len + 1 + name_len;
		level++;
		level->fd = fd;
		level->len = level->pos = 0;
	}

	for (; level >= levels; level--)
		sys_close(level->fd);
	return ret;
}

static long op(struct cell *c, unsigned int i)
{
	struct count count = { 0, 0 };

	return walk(c, &count, 1);
}

static int check(struct cell *c)
{
	struct count count = { 0, 0 };
	long ret = walk(c, &count, 0);

	return wrong_if(c, ret, count.dirs != c->variant->arg || count.files != c->variant->arg2,
			"treewalk: wrong result");
}

static void teardown(struct cell *c)
{
	if (c->variant->path)
		remount(0);
}

BENCH("treewalk", FILE, HOWELLS, 1,
      "stat and open of every file and directory of a tree, recursively "
      "(full: 266 directories, 19255 files; small: 10, 200)",
      .source = "D. Howells, mail on separating the task security context: openit, "
		"mean of nine runs",
      .syscalls = "stat open close getdents64", .composite = 1, .repetitions = 9,
      .variants = VARIANTS({ "full", .arg = 266, .arg2 = 19255 },
			   { "small", .arg = 10, .arg2 = 200 },
			   { "full-read-only", .arg = 266, .arg2 = 19255, .path = READ_ONLY }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
