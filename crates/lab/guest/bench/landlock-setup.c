// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of sandboxing oneself. Measured: landlock_create_ruleset and close (`create`),
 * landlock_add_rule (`add-path`, `add-port`), and landlock_restrict_self of a ruleset with one
 * rule, as the variant's layer (`restrict-4`: the fourth). Layers cannot be removed, so each
 * operation has its own child, whose calls are measured.
 */
#include "../landlock.h"
#include "bench.h"

#define RULESET		0	/* c->fd[]: with a rule */
#define PLACE		1	/* the measurement's directory */
#define ADD_PATH	-1	/* of a variant's arg; others are layers; 0: create */
#define ADD_PORT	-2

struct attributes {
	u64 of_files, of_ports;
};

static long create(u64 of_files, u64 of_ports)
{
	struct attributes attributes = { of_files, of_ports };

	/* Kernels without port rules reject the field. */
	return SYS(landlock_create_ruleset, &attributes, of_ports ? 16 : 8, 0);
}

static long add_path(long ruleset, int dir)
{
	struct __attribute__((packed)) {
		u64 allowed_access;
		int parent_fd;
	} rule = { ACCESS_READ_FILE, dir };

	return SYS(landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
}

static long add_port(long ruleset)
{
	struct {
		u64 allowed_access, port;
	} rule = { ACCESS_CONNECT_TCP, 443 };

	return SYS(landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0);
}

static int setup(struct cell *c)
{
	u64 of_ports = c->variant->arg == ADD_PORT ? ACCESS_CONNECT_TCP : 0;
	long ret = create(ACCESS_READ_FILE, of_ports);

	if (ret < 0)
		return unsupported(c, of_ports ? "no Landlock here that knows ports" :
				   "no Landlock in this stack", ret);
	c->fd[RULESET] = ret;
	ret = sys_open(".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (ret < 0)
		return failed(c, "open", ret);
	c->fd[PLACE] = ret;
	ret = add_path(c->fd[RULESET], c->fd[PLACE]);
	return ret < 0 ? failed(c, "landlock_add_rule", ret) : 0;
}

static void teardown(struct cell *c)
{
	sys_close(c->fd[RULESET]);
	sys_close(c->fd[PLACE]);
}

/* Runs in the child, which enters that many layers. */
static long restrict_self(struct cell *c)
{
	long layers = c->variant->arg, ret = 0;

	while (ret >= 0 && layers-- > 1)
		ret = SYS(landlock_restrict_self, c->fd[RULESET], 0);
	window_begin();
	if (ret >= 0)
		ret = SYS(landlock_restrict_self, c->fd[RULESET], 0);
	window_end();
	return ret;
}

static long in_a_child(struct cell *c)
{
	int status = -1;
	long pid = SYS(fork);

	if (pid == 0) {
		long ret = restrict_self(c);

		for (;;)
			SYS(exit_group, ret < 0 ? -ret & 0xff : 0);
	}
	if (pid < 0)
		return pid;
	pid = SYS(wait4, pid, &status, 0, 0);
	if (pid < 0)
		return pid;
	return status & 0x7f ? -EIO : -(status >> 8 & 0xff);
}

static long make_one(void)
{
	long ret;

	window_begin();
	ret = create(ACCESS_READ_FILE, 0);
	if (ret >= 0)
		ret = sys_close(ret);
	window_end();
	return ret;
}

static long op(struct cell *c, unsigned int i __attribute__((unused)))
{
	long kind = c->variant->arg, ret;

	if (kind > 0)
		return in_a_child(c);
	if (!kind)
		return make_one();
	window_begin();
	ret = kind == ADD_PATH ? add_path(c->fd[RULESET], c->fd[PLACE]) :
				 add_port(c->fd[RULESET]);
	window_end();
	return ret;
}

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS && c->variant->arg > 0)
		return unsupported(c, "it needs a second task, and in this kernel there is one", 0);
	return ret < 0 ? failed(c, "landlock", ret) : 0;
}

BENCH("landlock-setup", PROCESS, BEYOND, 43,
      "steps by which a program sandboxes itself: a ruleset, a rule, a layer",
      .source = "landlock(7); landlock_restrict_self(2)",
      .syscalls = "landlock_create_ruleset landlock_add_rule landlock_restrict_self",
      .composite = 1,
      .variants = VARIANTS({ "create" },
			   { "add-path", .arg = ADD_PATH },
			   { "add-port", .arg = ADD_PORT },
			   { "restrict-1", .arg = 1 },
			   { "restrict-2", .arg = 2 },
			   { "restrict-4", .arg = 4 },
			   { "restrict-8", .arg = 8 },
			   { "restrict-16", .arg = 16 }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
