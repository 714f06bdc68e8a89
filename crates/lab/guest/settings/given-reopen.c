// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that a benchmark opened before its child was confined. SELinux would check whether the new
 * domain may use another domain's descriptors, and AppArmor would check the path again; real
 * programs have no such descriptors. So the child opens them again, under the policy.
 */
#include "given.h"

#define FILES_MAX	16
#define FIRST		3
#define BEYOND		64
#define GET_DESCRIPTOR_FLAGS	1	/* F_GETFD */
#define GET_FLAGS	3		/* F_GETFL */
#define CREATION	(O_CREAT | O_EXCL | O_TRUNC)

static struct opened {
	int fd, flags, on_exec;
	s64 offset;
	char path[512];
} opened[FILES_MAX];

static unsigned int count;

/* Whether it is in the measurement's directory, with a name. */
static int is_of_cell(const char *path)
{
	size_t len = strlen(experiment.dir), end = strlen(path);
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;

	return !strncmp(path, experiment.dir, len) && !strncmp(path + len, "/cell", 5) &&
	       !(end > tail && !strcmp(path + end - tail, deleted));
}

void given_remember_files(void)
{
	struct opened *of;
	char link[32];
	long n;
	int fd;

	count = 0;
	for (fd = FIRST; fd < BEYOND && count < FILES_MAX; fd++) {
		of = &opened[count];
		format(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = SYS(readlink, link, of->path, sizeof(of->path) - 1);
		if (n <= 0)
			continue;
		of->path[n] = '\0';
		if (!is_of_cell(of->path))
			continue;
		of->fd = fd;
		of->flags = SYS(fcntl, fd, GET_FLAGS, 0);
		of->on_exec = SYS(fcntl, fd, GET_DESCRIPTOR_FLAGS, 0);
		of->offset = SYS(lseek, fd, 0, 1 /* SEEK_CUR */);
		count++;
	}
}

void given_open_again(void)
{
	unsigned int i;
	long fd;

	for (i = 0; i < count; i++) {
		const struct opened *of = &opened[i];

		/*
		 * If the policy denies the open, the old descriptor stays, and the log reports it.
		 */
		fd = sys_open(of->path, of->flags & ~CREATION, 0);
		if (fd < 0)
			continue;
		if (of->offset > 0)
			SYS(lseek, fd, of->offset, 0 /* SEEK_SET */);
		SYS(dup3, fd, of->fd, of->on_exec & 1 ? O_CLOEXEC : 0);
		sys_close(fd);
	}
}

void given_open_standard_files(void)
{
	/* Reading a descriptor's flags would use the descriptor. */
	static const int flags[FIRST] = { O_RDONLY, O_WRONLY, O_WRONLY | O_APPEND };
	char link[32], path[512];
	long n, fd, old;

	for (old = 0; old < FIRST; old++) {
		format(link, sizeof(link), "/proc/self/fd/%ld", old);
		n = SYS(readlink, link, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		fd = sys_open(path, flags[old], 0);
		if (fd < 0)
			fd = sys_open("/dev/null", O_RDWR, 0);
		if (fd < 0)
			continue;
		SYS(dup2, fd, old);
		sys_close(fd);
	}
}
