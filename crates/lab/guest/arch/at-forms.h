/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For architectures whose system call table is asm-generic/unistd.h, whose arch.h includes this
 * file. Calls that are missing from the table are made in the form that the table has, as a C
 * library does.
 *
 * SYS_OF_name: after a comma, the expansion of SYS(name, ...), and the value of SYS_NUMBER(name).
 * AT_FORMS: pairs of the missing call and its replacement.
 */
#ifndef LSMETER_AT_FORMS_H
#define LSMETER_AT_FORMS_H

#include <asm/signal.h>

#define AT_FORMS						\
	{ "open", "openat" }, { "creat", "openat" },		\
	{ "stat", "newfstatat" }, { "lstat", "newfstatat" },	\
	{ "access", "faccessat" }, { "chmod", "fchmodat" },	\
	{ "chown", "fchownat" }, { "lchown", "fchownat" },	\
	{ "link", "linkat" }, { "symlink", "symlinkat" },	\
	{ "readlink", "readlinkat" }, { "rename", "renameat2" },	\
	{ "mkdir", "mkdirat" }, { "mknod", "mknodat" },		\
	{ "rmdir", "unlinkat" }, { "unlink", "unlinkat" },	\
	{ "dup2", "dup3" }, { "fork", "clone" },		\
	{ "pause", "ppoll" }, { "poll", "ppoll" },

#define SYS_OF_open	, AT_OPEN, SYS_ABSENT
#define AT_OPEN(name, path, flags, ...) \
	SYS_AS(openat, AT_FDCWD, path, flags, ##__VA_ARGS__)
#define SYS_OF_creat	, AT_CREAT, SYS_ABSENT
#define AT_CREAT(name, path, mode) \
	SYS_AS(openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode)
#define SYS_OF_stat	, AT_STAT, SYS_ABSENT
#define AT_STAT(name, path, st) \
	SYS_AS(newfstatat, AT_FDCWD, path, st, 0)
#define SYS_OF_lstat	, AT_LSTAT, SYS_ABSENT
#define AT_LSTAT(name, path, st) \
	SYS_AS(newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW)
#define SYS_OF_access	, AT_ACCESS, SYS_ABSENT
#define AT_ACCESS(name, path, mode) \
	SYS_AS(faccessat, AT_FDCWD, path, mode)
#define SYS_OF_chmod	, AT_CHMOD, SYS_ABSENT
#define AT_CHMOD(name, path, mode) \
	SYS_AS(fchmodat, AT_FDCWD, path, mode)
#define SYS_OF_chown	, AT_CHOWN, SYS_ABSENT
#define AT_CHOWN(name, path, user, group) \
	SYS_AS(fchownat, AT_FDCWD, path, user, group, 0)
#define SYS_OF_lchown	, AT_LCHOWN, SYS_ABSENT
#define AT_LCHOWN(name, path, user, group) \
	SYS_AS(fchownat, AT_FDCWD, path, user, group, AT_SYMLINK_NOFOLLOW)
#define SYS_OF_link	, AT_LINK, SYS_ABSENT
#define AT_LINK(name, old, new) \
	SYS_AS(linkat, AT_FDCWD, old, AT_FDCWD, new, 0)
#define SYS_OF_symlink	, AT_SYMLINK, SYS_ABSENT
#define AT_SYMLINK(name, target, path) \
	SYS_AS(symlinkat, target, AT_FDCWD, path)
#define SYS_OF_readlink	, AT_READLINK, SYS_ABSENT
#define AT_READLINK(name, path, buffer, size) \
	SYS_AS(readlinkat, AT_FDCWD, path, buffer, size)
#define SYS_OF_rename	, AT_RENAME, SYS_ABSENT
#define AT_RENAME(name, old, new) \
	SYS_AS(renameat2, AT_FDCWD, old, AT_FDCWD, new, 0)
#define SYS_OF_mkdir	, AT_MKDIR, SYS_ABSENT
#define AT_MKDIR(name, path, mode) \
	SYS_AS(mkdirat, AT_FDCWD, path, mode)
#define SYS_OF_mknod	, AT_MKNOD, SYS_ABSENT
#define AT_MKNOD(name, path, mode, device) \
	SYS_AS(mknodat, AT_FDCWD, path, mode, device)
#define SYS_OF_rmdir	, AT_RMDIR, SYS_ABSENT
#define AT_RMDIR(name, path) \
	SYS_AS(unlinkat, AT_FDCWD, path, AT_REMOVEDIR)
#define SYS_OF_unlink	, AT_UNLINK, SYS_ABSENT
#define AT_UNLINK(name, path) \
	SYS_AS(unlinkat, AT_FDCWD, path, 0)
#define SYS_OF_dup2	, AT_DUP2, SYS_ABSENT
#define AT_DUP2(name, old, new) \
	SYS_AS(dup3, old, new, 0)
#define SYS_OF_fork	, AT_FORK, SYS_ABSENT
#define AT_FORK(name) \
	SYS_AS(clone, SIGCHLD, 0, 0, 0, 0)
#define SYS_OF_pause	, AT_PAUSE, SYS_ABSENT
#define AT_PAUSE(name) \
	SYS_AS(ppoll, NULL, 0, NULL, NULL, 0)
#define SYS_OF_poll	, AT_POLL, SYS_ABSENT
#define AT_POLL(name, files, count, ms) \
	SYS_AS(ppoll, files, count,	\
	       (&(const long[]){ (ms) / 1000, (ms) % 1000 * 1000000 }), NULL, 0)

#endif
