// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: socket of a family that has a number but no implementation: the kernel requests the
 * module net-pf-18, which has never existed, and returns EAFNOSUPPORT. A kernel task creates
 * another task that would become modprobe, which does not exist in the lab's machine. The work of
 * all tasks counts. Nothing to undo.
 */
#include "../sockets.h"
#include "../vm-only.h"

#define AF_ASH		18	/* from the C library's headers */
#define TEXT_MAX	128

static long op(struct cell *c, unsigned int i)
{
	long ret = SYS(socket, AF_ASH, SOCK_RAW | SOCK_CLOEXEC, 0);

	return ret == -EAFNOSUPPORT ? 0 : ret < 0 ? ret : -EINVAL;
}

static long read_tasks(char *text)
{
	long fd = sys_open("/proc/loadavg", O_RDONLY | O_CLOEXEC, 0), len;

	if (fd < 0)
		return fd;
	len = sys_read(fd, text, TEXT_MAX - 1);
	sys_close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len;
}

/* The PID of the latest task: the last word. */
static const char *last_word(const char *text)
{
	const char *word = text;

	for (; *text; text++)
		if (*text == ' ')
			word = text + 1;
	return word;
}

static int setup(struct cell *c)
{
	int ret = vm_only(c, "elsewhere each operation would run the machine's modprobe");

	if (ret)
		return ret;
	if (SYS(access, "/proc/modules", 0) < 0)
		return unsupported(c, "this kernel loads no modules", 0);
	return 0;
}

/* The kernel's attempt to run modprobe is visible as a new task. */
static int check(struct cell *c)
{
	char *before = slot_data(c), *after = before + TEXT_MAX;
	long seen = read_tasks(before), ret;

	if (seen >= 0) {
		ret = op(c, 0);
		if (ret < 0)
			return ret;
		seen = read_tasks(after);
	}
	if (seen < 0)
		return unsupported(c, "the latest PID is not visible", seen);
	if (!strcmp(last_word(before), last_word(after)))
		return unsupported(c, "a policy denies it, or this kernel runs no modprobe", 0);
	return 0;
}

BENCH("module-request", ADMIN, ADMIN, 27,
      "socket of an unimplemented family, for which the kernel runs modprobe",
      .source = "socket(2)", .syscalls = "socket", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "socket-family" }),
      .setup = setup, .check = check, .op = op);
