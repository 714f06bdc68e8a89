// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's Landlock benchmark, tools/testing/selftests/landlock/fs_bench.c: nested directories,
 * each with a rule that does not allow creat in the innermost one. Landlock walks up through all
 * of them before it denies the creat. Each operation has its own sandboxed child, whose open is
 * measured.
 */
#include <linux/sched.h>
#include "../landlock.h"
#include "bench.h"

#define RULESET		0	/* c->fd[] */
#define TOP		1	/* the measurement's directory */
#define FILE		"file"

static long add(long ruleset, int dir)
{
	struct __attribute__((packed)) {
		u64 allowed_access;
		int parent_fd;
	} rule = { ACCESS_READ_FILE, dir };

	return SYS(landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
}

/* One directory deeper, with a rule. */
static long go_in(struct cell *c)
{
	long fd, ret = sys_mkdir("d", 0755);

	if (ret >= 0)
		ret = SYS(chdir, "d");
	if (ret < 0)
		return ret;
	fd = sys_open(".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	ret = add(c->fd[RULESET], fd);
	sys_close(fd);
	return ret;
}

/* Leaves and removes all of them. They are nested too deeply for removal by path. */
static void teardown(struct cell *c)
{
	while (c->state[0]-- > 0 && SYS(chdir, "..") >= 0)
		sys_rmdir("d");
	SYS(fchdir, c->fd[TOP]);
	sys_close(c->fd[RULESET]);
	sys_close(c->fd[TOP]);
}

static int setup(struct cell *c)
{
	u64 handled = ACCESS_READ_FILE | ACCESS_MAKE_REG;
	long ret = SYS(landlock_create_ruleset, &handled, sizeof(handled), 0);

	if (ret < 0)
		return unsupported(c, "no Landlock in this stack", ret);
	c->fd[RULESET] = ret;
	ret = sys_open(".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (ret < 0)
		return failed(c, "open", ret);
	c->fd[TOP] = ret;
	for (c->state[0] = 0; c->state[0] < c->variant->arg; c->state[0]++) {
		ret = go_in(c);
		if (ret >= 0)
			continue;
		teardown(c);
		return failed(c, "nesting directories", ret);
	}
	return 0;
}

/* The longest regions contain a tick, which would wake other tasks. This makes those tasks wait. */
static void be_preferred(void)
{
	struct {
		int sched_priority;
	} param = { 1 };

	SYS(sched_setscheduler, 0, SCHED_FIFO, &param);
}

static long try_in_sandbox(struct cell *c)
{
	long ret;

	be_preferred();
	ret = SYS(landlock_restrict_self, c->fd[RULESET], 0);
	if (ret < 0)
		return ret;
	window_begin();
	ret = sys_open(FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	window_end();
	return ret == -EACCES ? 0 : ret < 0 ? ret : -EIO;
}

static long op(struct cell *c, unsigned int i __attribute__((unused)))
{
	int status = -1;
	long pid = SYS(fork);

	if (pid == 0) {
		long ret = try_in_sandbox(c);

		for (;;)
			SYS(exit_group, -ret & 0xff);
	}
	if (pid >= 0)
		pid = SYS(wait4, pid, &status, 0, 0);
	if (pid < 0)
		return pid;
	return status & 0x7f ? -EIO : -(status >> 8 & 0xff);
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	return ret < 0 ? failed(c, "creat in the sandbox", ret) : 0;
}

BENCH("landlock-nested", FILE, BEYOND, 44,
      "a denied creat below nested directories, each with a rule",
      .source = "tools/testing/selftests/landlock/fs_bench.c", .syscalls = "open", .composite = 1,
      .repetitions = 16,
      .variants = VARIANTS({ "10", .arg = 10 },
			   { "100", .arg = 100 },
			   { "1000", .arg = 1000 },
			   { "5000", .arg = 5000 },
			   { "10000", .arg = 10000 }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
