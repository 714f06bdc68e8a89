/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw system calls. The agent is built without a C library (-nostdlib -ffreestanding), so there is
 * nothing between a benchmark and the kernel, and one small static binary runs on every kernel, in
 * a VM or on the host. Every sys_*() returns the kernel's result: a value or -errno.
 */
#ifndef LSMETER_SYS_H
#define LSMETER_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* From the directory arch/NAME/ of the agent's architecture: raw_syscall() and more. */
#include "arch.h"

/*
 * SYS(name, args...): sys_name with up to six scalar arguments. Names are those of the oldest form
 * (open, not openat). If an architecture does not have that form, its arch.h defines the
 * replacement as SYS_OF_name (at-forms.h).
 */
#define SYS_ARG(x)		((long)(x))
#define SYS6(nr, a, b, c, d, e, f) \
	raw_syscall(nr, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), SYS_ARG(e), SYS_ARG(f))
#define SYS_PICK(_0, _1, _2, _3, _4, _5, _6, n, ...) SYS_N##n
#define SYS_N0(nr)			SYS6(nr, 0, 0, 0, 0, 0, 0)
#define SYS_N1(nr, a)			SYS6(nr, a, 0, 0, 0, 0, 0)
#define SYS_N2(nr, a, b)		SYS6(nr, a, b, 0, 0, 0, 0)
#define SYS_N3(nr, a, b, c)		SYS6(nr, a, b, c, 0, 0, 0)
#define SYS_N4(nr, a, b, c, d)		SYS6(nr, a, b, c, d, 0, 0)
#define SYS_N5(nr, a, b, c, d, e)	SYS6(nr, a, b, c, d, e, 0)
#define SYS_N6(nr, a, b, c, d, e, f)	SYS6(nr, a, b, c, d, e, f)
#define SYS_AS(name, ...) \
	SYS_PICK(0, ##__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)(__NR_##name, ##__VA_ARGS__)
/* The expansion of SYS_OF_name after its first and second comma, if any. */
#define SYS_SECOND(_of, form, ...)		form
#define SYS_FORM(...)				SYS_SECOND(__VA_ARGS__)
#define SYS_THIRD(_of, _form, number, ...)	number
#define SYS_PICK_NUMBER(...)			SYS_THIRD(__VA_ARGS__)
#define SYS(name, ...) \
	SYS_FORM(SYS_OF_##name, SYS_AS, 0)(name, ##__VA_ARGS__)

/* The number of the call with exactly this name, or SYS_ABSENT. */
#define SYS_ABSENT		0xffffu
#define SYS_NUMBER(name)	SYS_PICK_NUMBER(SYS_OF_##name, 0, __NR_##name, 0)

/* Calls that nearly every benchmark needs. */
static inline long sys_open(const char *path, int flags, unsigned int mode)
{
	return SYS(open, path, flags, mode);
}

static inline long sys_close(int fd)
{
	return SYS(close, fd);
}

static inline long sys_read(int fd, void *buf, size_t len)
{
	return SYS(read, fd, buf, len);
}

static inline long sys_write(int fd, const void *buf, size_t len)
{
	return SYS(write, fd, buf, len);
}

static inline long sys_mkdir(const char *path, unsigned int mode)
{
	return SYS(mkdir, path, mode);
}

static inline long sys_unlink(const char *path)
{
	return SYS(unlink, path);
}

static inline long sys_rmdir(const char *path)
{
	return SYS(rmdir, path);
}

/* util.c: a minimal C library for the agent. */
void *memset(void *dst, int byte, size_t len);
void *memcpy(void *dst, const void *src, size_t len);
void *memmove(void *dst, const void *src, size_t len);
int memcmp(const void *a, const void *b, size_t len);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t len);

/*
 * Bounded formatting: %s %d %u %lu %ld %lx %x %c %% and a width with 0 (%04u). Always ends dst
 * with NUL. Returns the number of characters written.
 */
size_t format(char *dst, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Files for setup(): each returns 0 or -errno. */
/* Mode 0644, size bytes 'x'; its access time is settled unless it is empty. */
int make_file(const char *path, size_t size);
/*
 * Sets the access time of files that will be read to well after their last change. Under relatime,
 * the default, a read then never updates it. Without this, an update would depend on the second in
 * which the file was made.
 */
int settle_atime(const char *path);
int make_dirs(const char *path);		/* every directory above the last '/' */
int remove_tree(const char *path);		/* contents and path; a missing path is fine */

#endif
