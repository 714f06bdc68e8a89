// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "serve.h"

#include "window.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL		STDIN_FILENO
#define TEXT_BYTES	(READY_PAGES * sizeof(((struct ready_page *)0)->text))
#define QUIET_TRIES	10000
#define QUIET_US	100

static const char *directory;
static const struct records_header *header;
static bool is_copy;
static struct ready_page *pages[READY_PAGES];
static char text[TEXT_BYTES];

static __attribute__((noreturn)) void give_up(const char *what, int error)
{
	fprintf(stderr, "lsmeter plugin: %s: %s\n", what, strerror(error));
	_exit(1);
}

int serve_enable(const char *where, const struct records_header *of_copies)
{
	/* QEMU's own sandbox would forbid fork as well. */
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	directory = strdup(where);
	header = of_copies;
	if (!directory || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		return -errno;
	return 0;
}

/* Finds the agent's pages among those that the guest has used. */
static void find_pages(char *begin, char *end)
{
	static unsigned char used[4096];
	unsigned int found = 0;

	for (; begin < end; begin += sizeof(used) * READY_PAGE_BYTES) {
		size_t n = (size_t)(end - begin) / READY_PAGE_BYTES;

		if (n > sizeof(used))
			n = sizeof(used);
		if (mincore(begin, n * READY_PAGE_BYTES, used))
			give_up("mincore", errno);
		for (size_t i = 0; i < n; i++) {
			struct ready_page *page = (void *)(begin + i * READY_PAGE_BYTES);

			if (!(used[i] & 1) || page->magic != READY_MAGIC ||
			    page->number >= READY_PAGES || page->zero)
				continue;
			found += !pages[page->number];
			pages[page->number] = page;
		}
	}
	if (found != READY_PAGES)
		give_up("the agent's pages are missing", EPROTO);
}

/* All of QEMU's mappings are inherited by copies, including the guest's memory. */
static void map_memory(const void *in_memory)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t begin, end, from = 0, to = 0;
	char line[512];

	if (!maps)
		give_up("/proc/self/maps", errno);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &begin, &end) != 2)
			continue;
		/* Fails for the kernel's own mappings. */
		madvise((void *)begin, end - begin, MADV_DOFORK);
		if ((uintptr_t)in_memory >= begin && (uintptr_t)in_memory < end) {
			from = begin;
			to = end;
		}
	}
	fclose(maps);
	find_pages((char *)from, (char *)to);
}

/*
 * Whether another thread runs. A running thread may hold a lock, which would never be released in
 * a copy.
 */
static bool others_run(void)
{
	DIR *tasks = opendir("/proc/self/task");
	bool run = false;
	struct dirent *entry;

	if (!tasks)
		give_up("/proc/self/task", errno);
	while (!run && (entry = readdir(tasks))) {
		char path[300], stat[512];
		const char *state;
		ssize_t n;
		int fd;

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == (int)syscall(SYS_gettid))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
		if (fd >= 0)
			close(fd);
		if (n <= 0)
			continue;
		stat[n] = '\0';
		state = strrchr(stat, ')');
		run = state && state[1] && state[2] != 'S';
	}
	closedir(tasks);
	return run;
}

static void open_instead(int fd, uint32_t number, const char *name)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/%u.%s", directory, number, name);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || dup2(file, fd) < 0)
		give_up(path, errno);
	close(file);
}

/* Gives the copy its own output files and event descriptors. */
static void own_files(uint32_t number)
{
	char path[4096], target[4096], agent[4096], console[4096];
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!fds)
		give_up("/proc/self/fd", errno);
	snprintf(agent, sizeof(agent), "%s/agent", directory);
	snprintf(console, sizeof(console), "%s/console", directory);
	while ((entry = readdir(fds))) {
		ssize_t n;
		int fd = atoi(entry->d_name), fresh;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		if (!strcmp(target, agent)) {
			open_instead(fd, number, "agent");
		} else if (!strcmp(target, console)) {
			open_instead(fd, number, "console");
		} else if (!strcmp(target, "anon_inode:[eventfd]")) {
			fresh = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
			if (fresh < 0 || dup2(fresh, fd) < 0)
				give_up("eventfd", errno);
			close(fresh);
		}
	}
	closedir(fds);
}

static void become_copy(const struct request *request, pid_t parent)
{
	char path[4096];
	uint32_t at = 0;
	sigset_t none;
	int err;

	is_copy = true;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(CONTROL);
	open("/dev/null", O_RDONLY);
	own_files(request->number);
	snprintf(path, sizeof(path), "%s/%u.records", directory, request->number);
	window_begin_copy();
	err = records_open(path, header);
	if (err)
		give_up(path, -err);
	for (unsigned int i = 0; at < request->length; i++) {
		size_t n = sizeof(pages[i]->text);

		if (n > request->length - at)
			n = request->length - at;
		memcpy(pages[i]->text, text + at, n);
		at += (uint32_t)n;
	}
}

/*
 * Called when the host has closed its end. The machine's resource usage includes that of its
 * copies.
 */
static __attribute__((noreturn)) void end_machine(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
	_exit(0);
}

static void read_control(void *data, size_t size)
{
	char *at = data;

	while (size) {
		ssize_t n = read(CONTROL, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			end_machine();
		at += n;
		size -= (size_t)n;
	}
}

void serve(const void *in_memory)
{
	pid_t parent = getpid();

	if (!directory || is_copy)
		return;
	/* QEMU would wait for this thread before exiting. */
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	map_memory(in_memory);
	for (;;) {
		struct request request;
		int32_t answer;

		read_control(&request, sizeof(request));
		if (request.length > sizeof(text) - 1)
			give_up("directives", EMSGSIZE);
		read_control(text, request.length);
		/*
		 * The host inspects a copy before it requests the next, so its PID may be reused.
		 */
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		for (int i = 0; i < QUIET_TRIES && others_run(); i++)
			usleep(QUIET_US);
		answer = fork();
		if (!answer) {
			become_copy(&request, parent);
			return;
		}
		if (answer < 0)
			answer = -errno;
		if (write(CONTROL, &answer, sizeof(answer)) != sizeof(answer))
			end_machine();
	}
}

void serve_end(void)
{
	if (!is_copy)
		return;
	records_flush();
	_exit(0);
}
