// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delays by the Tunable Security Module (crates/sensitivity/kernel/README.md). An open file keeps
 * its enforcement stage active, which therefore ends with the agent, however the agent ends.
 */
#include "delays.h"

#define CONTROL		"/sys/kernel/security/tunable/"
#define LABEL		"untrusted"
/* Longer than the wait without its loop (LAST_NS in security/tunable). */
#define FLOOR_NS	700
#define XATTR		"security.tunable"
/* A line for each hook: name, blank, up to seven digits, newline. */
#define TEXT_MAX	(DELAY_HOOKS_MAX * (DELAY_HOOK_LEN + 10))

static long stage = -1, delays_file = -1, asked_file = -1;
static char *text;	/* TEXT_MAX bytes */

static long open_control(const char *name)
{
	char path[64];
	long fd;

	format(path, sizeof(path), CONTROL "%s", name);
	fd = sys_open(path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		fatal("%s: %s (%ld); is tunable in the stack?", path,
		      errno_name(fd), -fd);
	return fd;
}

static void write_control(long fd, const char *name, const char *text, size_t len)
{
	/* Not pwrite, which seq files do not support. */
	long n = SYS(lseek, fd, 0, 0);

	if (n >= 0)
		n = sys_write(fd, text, len);
	if (n != (long)len)
		fatal(CONTROL "%s: %s (%ld)", name, errno_name(n), -n);
}

static void write_word(long fd, const char *name, const char *word)
{
	write_control(fd, name, word, strlen(word));
}

/* execve applies the label to the process, so the agent executes itself. */
static void label_program(void)
{
	char path[512];
	long len = SYS(readlink, "/proc/self/exe", path, sizeof(path) - 1), err;

	or_fatal(len, "/proc/self/exe");
	path[len] = '\0';
	err = SYS(setxattr, path, XATTR, LABEL, strlen(LABEL), 0);
	or_fatal(err, "labelling %s", path);
}

/* Writes "HOOK NS" and a newline at dst + len; returns the new length. */
static size_t add_line(char *dst, size_t len, const char *hook, u32 ns)
{
	return len + format(dst + len, TEXT_MAX - len, "%s %u\n", hook, ns);
}

static void set(const struct delay_point *point)
{
	unsigned int i;
	size_t len;

	if (point->hook == ALL_HOOKS && !delays->listed_only) {
		len = add_line(text, 0, "all", FLOOR_NS + point->ns);
	} else {
		len = add_line(text, 0, "all", FLOOR_NS);
		for (i = 0; i < delays->hooks; i++)
			if (point->hook == ALL_HOOKS || point->hook == i)
				len = add_line(text, len, delays->hook[i].name,
					       FLOOR_NS + point->ns);
	}
	write_control(delays_file, "delays", text, len);
}

/* Kernels built before the clock was selectable have no such file. */
static void set_clock(void)
{
	long fd = sys_open(CONTROL "clock", O_RDWR | O_CLOEXEC, 0);

	if (fd == -ENOENT && !delays->counted)
		return;
	if (fd < 0)
		fatal(CONTROL "clock: %s (%ld); a kernel with an older Tunable Security "
		      "Module? Build it again: lsmeter kernel build", errno_name(fd), -fd);
	write_word(fd, "clock", delays->counted ? "instructions" : "time");
	sys_close(fd);
}

static void start(void)
{
	long self = open_control("self");

	text = delay_memory(TEXT_MAX);
	delays_file = open_control("delays");
	stage = open_control("stage");
	label_program();
	write_word(self, "self", LABEL);
	sys_close(self);
	set_clock();
	write_word(delays_file, "delays", "all 0\n");
	write_word(stage, "stage", "enforcement while open");
}

static void note_begin(void)
{
	asked_file = open_control("asked");
	write_word(asked_file, "asked", "1");
}

static size_t note_end(char *answer, size_t size)
{
	size_t len = 0;
	long n;

	write_word(asked_file, "asked", "0");
	SYS(lseek, asked_file, 0, 0);
	while (len < size - 1 &&
	       (n = sys_read(asked_file, answer + len, size - 1 - len)) > 0)
		len += n;
	/* Resets the label. */
	write_word(asked_file, "asked", "0");
	sys_close(asked_file);
	if (len == size - 1)
		while (len && answer[len - 1] != '\n')
			len--;
	answer[len] = '\0';
	return len;
}

static void stop(void)
{
	sys_close(delays_file);
	sys_close(stage);
}

DELAY_MODULE(tunable) = {
	.name = "tunable",
	.start = start,
	.set = set,
	.ask_begin = note_begin,
	.ask_end = note_end,
	.stop = stop,
};
