/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rename of an empty file from slot_name[] to slot_other[]; prepare() makes it and undo() removes
 * it.
 */
#ifndef LSMETER_RENAME_H
#define LSMETER_RENAME_H

#include "paths.h"

SLOT(prepare, make_file(slot_name[i], 0));

OP(op, SYS(rename, slot_name[i], slot_other[i]));

SLOT(undo, sys_unlink(slot_other[i]));

static int check(struct cell *c)
{
	long err, size;

	err = make_file(slot_name[0], 7);
	if (err < 0)
		return failed(c, "creating the file", err);
	err = op(c, 0);
	if (err < 0)
		return failed(c, "rename", err);
	err = file_size(slot_name[0], &size);
	if (err != -ENOENT)
		return failed(c, "rename: the old name is still there", err);
	err = file_size(slot_other[0], &size);
	if (err < 0 || size != 7)
		return failed(c, "rename: the file is not under its new name", err);
	err = undo(c, 0);
	return err < 0 ? failed(c, "unlink", err) : 0;
}

#endif
