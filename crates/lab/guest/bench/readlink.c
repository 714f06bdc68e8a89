// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: readlink of a symbolic link, a different one for each operation. A short link's text is
 * in its inode, and the inode's position in its slab changes the cost of copying the text. Nothing
 * to undo.
 */
#include "slots.h"

#define TARGET	"../target/of/the/link"
#define LETTERS	8	/* two of them name a link, for WARM_SLOTS links */

static int setup(struct cell *c)
{
	int ret = make_dirs("AA/BB");
	unsigned int i;

	for (i = 0; i < c->batch && ret >= 0; i++) {
		format(slot_name(c, i), SLOT_SIZE, "AA/%c%c", 'A' + i / LETTERS,
		       'A' + i % LETTERS);
		ret = SYS(symlink, TARGET, slot_name(c, i));
		if (ret >= 0)
			ret = settle_atime(slot_name(c, i));
	}
	return ret;
}

OP(op, SYS(readlink, slot_name(c, i), slot_data(c), 4096));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	return wrong_if(c, ret, ret != sizeof(TARGET) - 1 || memcmp(slot_data(c), TARGET, ret),
			"readlink: wrong result");
}

BENCH("readlink", LINK, BEYOND, 6, "readlink of a symbolic link",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "AA/BB", .depth = 2 }),
      .setup = setup, .check = check, .op = op);
