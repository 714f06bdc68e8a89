/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of getdents64(2), which the kernel's exported headers do not define. */
#ifndef LSMETER_GETDENTS_H
#define LSMETER_GETDENTS_H

#include "sys.h"

struct dirent64 {
	u64 d_ino;
	s64 d_off;
	u16 d_reclen;
	u8 d_type;
	char d_name[];
};

#define DIRENT_HEAD	((long)offsetof(struct dirent64, d_name))

/* The record at pos of len bytes, or NULL if it exceeds them. */
static inline struct dirent64 *dirent_at(char *records, long len, long pos)
{
	struct dirent64 *entry = (struct dirent64 *)(records + pos);

	if (len - pos <= DIRENT_HEAD || entry->d_reclen <= DIRENT_HEAD ||
	    entry->d_reclen > len - pos)
		return NULL;
	return entry;
}

static inline int is_dot_or_dotdot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

#endif
