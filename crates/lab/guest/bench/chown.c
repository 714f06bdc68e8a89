// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: chown of a regular file, a different one for each operation of a batch. "same" sets the
 * current owner and group, which needs no privilege; "other" sets user and group 1, which needs
 * CAP_CHOWN; "capabilities" is like "same", but the file loses its capabilities. Undo: chown back,
 * or set the capabilities again.
 */
#include <linux/capability.h>
#include <asm/stat.h>
#include "slots.h"

enum { SAME, OTHER, CAPABILITIES };	/* arg of variants */

#define CAPS_NAME	"security.capability"

/* c->state[]: owner of the files between operations, and during them */
enum { UID, GID, NEW_UID, NEW_GID };

/* CAP_NET_RAW, as for ping(8). */
static long give_capabilities(struct cell *c, unsigned int i)
{
	static const struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2,
		.data = { { .permitted = 1u << CAP_NET_RAW } },
	};

	return SYS(setxattr, slot_name(c, i), CAPS_NAME, &data, XATTR_CAPS_SZ_2, 0);
}

static int setup(struct cell *c)
{
	unsigned int i;
	int ret;

	c->state[UID] = SYS(geteuid);
	c->state[GID] = SYS(getegid);
	c->state[NEW_UID] = c->variant->arg == OTHER ? 1 : c->state[UID];
	c->state[NEW_GID] = c->variant->arg == OTHER ? 1 : c->state[GID];
	ret = slots_name(c, "AA/");
	if (ret < 0)
		return ret;
	ret = slots_make_files(c, 0);
	for (i = 0; ret >= 0 && c->variant->arg == CAPABILITIES && i < c->batch; i++)
		ret = give_capabilities(c, i);
	if (ret == -EPERM || is_missing(ret))
		return unsupported(c, "no capabilities of files here, or not for this user", ret);
	return ret;
}

static int undo(struct cell *c, unsigned int i)
{
	if (c->variant->arg == CAPABILITIES)
		return give_capabilities(c, i);
	return SYS(chown, slot_name(c, i), c->state[UID], c->state[GID]);
}

OP(op, SYS(chown, slot_name(c, i), c->state[NEW_UID], c->state[NEW_GID]));

static int check(struct cell *c)
{
	struct stat *st = (struct stat *)slot_data(c);
	long ret = undo(c, 0);

	/* A directory with the setgid bit gave the files a group that this process is not in. */
	if (ret < 0)
		return ret;
	ret = op(c, 0);
	if (ret == -EPERM)
		return unsupported(c, "giving a file away needs CAP_CHOWN", ret);
	if (ret == -EINVAL)
		return unsupported(c, "user or group 1 is not mapped here", ret);
	if (ret < 0)
		return ret;
	ret = SYS(stat, slot_name(c, 0), st);
	if (ret < 0)
		return ret;
	if (st->st_uid != c->state[NEW_UID] || st->st_gid != c->state[NEW_GID])
		return failed(c, "chown: wrong result", 0);
	if (c->variant->arg == CAPABILITIES &&
	    SYS(getxattr, slot_name(c, 0), CAPS_NAME, NULL, 0) != -ENODATA)
		return failed(c, "chown: the file has its capabilities still", 0);
	return undo(c, 0);
}

BENCH("chown", ATTR, BEYOND, 7, "chown of a file to its owner (same) or to another (other)",
      .source = "paper section 4.1, class 4; chown(2)", .max_batch = WARM_SLOTS,
      .variants = VARIANTS({ "same", .arg = SAME },
			   { "other", .arg = OTHER },
			   { "capabilities", .arg = CAPABILITIES }),
      .setup = setup, .check = check, .op = op, .undo = undo);
