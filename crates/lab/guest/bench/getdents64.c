// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: the first getdents64 of a newly opened directory, which returns all of it (with "." and
 * ".." in addition to the files). prepare() opens it; undo() closes it, which frees ext4's sorted
 * copy.
 */
#include "getdents.h"
#include "slots.h"

static int setup(struct cell *c)
{
	unsigned long random;
	long i, ret;

	ret = make_dirs("AA/");
	for (i = 0; ret >= 0 && i < c->variant->arg; i++) {
		random = random_u64(c);
		format(c->path, sizeof(c->path), "AA/%016lx", random);
		ret = make_file(c->path, 0);
	}
	return ret < 0 ? ret : settle_atime("AA");
}

static int prepare(struct cell *c, unsigned int i)
{
	*slot_fd(c, i) = sys_open("AA", O_RDONLY, 0);
	return *slot_fd(c, i);
}

OP(op, SYS(getdents64, *slot_fd(c, i), slot_data(c), DATA_SIZE));

static int check(struct cell *c)
{
	struct dirent64 *entry;
	long len, pos, files = 0;
	int ret = prepare(c, 0);

	if (ret < 0)
		return ret;
	len = op(c, 0);
	if (len < 0)
		return len;
	for (pos = 0; pos < len; pos += entry->d_reclen) {
		entry = dirent_at(slot_data(c), len, pos);
		if (!entry)
			return failed(c, "getdents64: wrong result", 0);
		if (!is_dot_or_dotdot(entry->d_name))
			files++;
	}
	if (files != c->variant->arg)
		return failed(c, "getdents64: wrong result", 0);
	/* ... and a second call returns nothing more. */
	return op(c, 0) == 0 ? slot_close(c, 0) : failed(c, "getdents64: wrong result", 0);
}

BENCH("getdents64", DIR, BEYOND, 12, "getdents64 of a directory with 8 or 128 files",
      .max_batch = MAX_FD_SLOTS,
      .variants = VARIANTS({ "8files", .arg = 8 }, { "128files", .arg = 128 }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = slot_close);
