// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Landlock: the agent sandboxes itself (security/landlock/,
 * Documentation/userspace-api/landlock.rst). It may read and execute everything, do anything below
 * the working directory, and write nowhere else. Works in a VM and, without privilege, on the host.
 */
#include <linux/prctl.h>
#include "landlock.h"
#include "../denials.h"

#define PATH_ONLY	(O_PATH | O_DIRECTORY | O_CLOEXEC)

/*
 * Directories for additional rules: chains of nested directories, each with a rule, like the one of
 * tools/testing/selftests/landlock/fs_bench.c. A rule pins its inode, so the directories can be
 * removed once the ruleset is complete.
 */
#define CHAIN_LENGTH	29
#define CHAINS		"landlock-rules"

long landlock_abi(void)
{
	long abi = raw_syscall(LANDLOCK_CREATE_RULESET, 0, 0, CREATE_RULESET_VERSION,
			       0, 0, 0);

	or_fatal(abi, "landlock: this kernel has none, or it is not running");
	return abi;
}

u64 landlock_rights_of(long abi)
{
	if (abi >= 5)
		return (1ull << 16) - 1;	/* up to IOCTL_DEV */
	if (abi >= 3)
		return (1ull << 15) - 1;	/* TRUNCATE */
	if (abi >= 2)
		return (1ull << 14) - 1;	/* REFER */
	return (1ull << 13) - 1;
}

void landlock_add_rule(long ruleset, long type, const void *rule)
{
	long err = raw_syscall(LANDLOCK_ADD_RULE, ruleset, type, (long)rule, 0, 0, 0);

	or_fatal(err, "landlock: landlock_add_rule");
}

void landlock_add_path(long ruleset, long fd, u64 allowed)
{
	struct __attribute__((packed)) {
		u64 allowed_access;
		int parent_fd;
	} rule = { allowed, fd };

	landlock_add_rule(ruleset, RULE_PATH_BENEATH, &rule);
}

static long open_path(long dir, const char *path)
{
	long fd = SYS(openat, dir, path, PATH_ONLY, 0);

	or_fatal(fd, "landlock: opening %s", path);
	return fd;
}

static long make_and_open(long dir, const char *name)
{
	long err = SYS(mkdirat, dir, name, 0755);

	or_fatal(err, "landlock: mkdir of %s", name);
	return open_path(dir, name);
}

static void add_readable(long ruleset, const char *path)
{
	u64 rights = ACCESS_READ;
	long fd = SYS(openat, AT_FDCWD, path, PATH_ONLY | O_NOFOLLOW, 0);

	if (fd < 0) {
		rights = ACCESS_EXECUTE | ACCESS_READ_FILE;
		fd = SYS(openat, AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	}
	or_fatal(fd, "landlock: opening %s", path);
	landlock_add_path(ruleset, fd, rights);
	sys_close(fd);
}

/* Read access to everything except DENIALS, because rules can only add rights. */
static void add_root(long ruleset, long root, const struct policy *p)
{
	if (!p->denials) {
		landlock_add_path(ruleset, root, ACCESS_READ);
		return;
	}
	landlock_add_path(ruleset, root, ACCESS_EXECUTE | ACCESS_READ_DIR);
	denials_readable(add_readable, ruleset);
	step("landlock: rules: files may be read below each entry of / and not below /; of "
	     DENIALS ", below " DENIALS "/granted");
}

/* `count` more rules: read and execute below each directory. */
static void add_chains(long ruleset, u32 count)
{
	long top, dir = -1, next;
	char name[16];
	u32 i;

	if (!count)
		return;
	top = make_and_open(AT_FDCWD, CHAINS);
	for (i = 0; i < count; i++) {
		if (i % CHAIN_LENGTH) {
			next = make_and_open(dir, "d");
		} else {
			format(name, sizeof(name), "%04u", i / CHAIN_LENGTH);
			next = make_and_open(top, name);
		}
		if (dir >= 0)
			sys_close(dir);
		dir = next;
		landlock_add_path(ruleset, dir, ACCESS_READ);
	}
	sys_close(dir);
	sys_close(top);
	next = remove_tree(CHAINS);
	or_fatal(next, "landlock: removing %s", CHAINS);
	step("landlock: %u rules more, on chains of %d nested directories", count,
	     CHAIN_LENGTH);
}

const char *landlock_restrict_self(long ruleset, u32 layers, u32 flags)
{
	const char *how = "as CAP_SYS_ADMIN allows";
	u32 done;
	long err;

	for (done = 0; done < layers; done++) {
		err = raw_syscall(LANDLOCK_RESTRICT_SELF, ruleset, flags, 0, 0, 0, 0);
		if (err == -EPERM && !done) {
			/* Without privilege, execve must not gain any either. */
			err = SYS(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			if (!err)
				err = raw_syscall(LANDLOCK_RESTRICT_SELF, ruleset,
						  flags, 0, 0, 0, 0);
			how = "after prctl(PR_SET_NO_NEW_PRIVS)";
		}
		or_fatal(err, "landlock: landlock_restrict_self, layer %u", done + 1);
	}
	return how;
}

static void confine(const struct policy *p)
{
	u32 layers = p->layers ? p->layers : 1;
	long abi, ruleset, fd;
	const char *how;
	u64 rights;

	if (p->state != POLICY_ENFORCING)
		return;
	if (p->given) {
		landlock_given_confine(p);
		return;
	}
	abi = landlock_abi();
	rights = landlock_rights_of(abi);
	ruleset = raw_syscall(LANDLOCK_CREATE_RULESET, (long)&rights,
			      sizeof(rights), 0, 0, 0, 0);
	or_fatal(ruleset, "landlock: landlock_create_ruleset");
	fd = open_path(AT_FDCWD, ".");
	landlock_add_path(ruleset, fd, rights);
	sys_close(fd);
	fd = open_path(AT_FDCWD, "/");
	add_root(ruleset, fd, p);
	sys_close(fd);
	step("landlock: ABI %ld, rights 0x%lx handled; rules: / may be read and "
	     "executed, the working directory has all", abi, rights);
	if (SYS(getpid) != 1) {
		/* On the host the agent removes the working directory at the end. */
		fd = open_path(AT_FDCWD, "..");
		landlock_add_path(ruleset, fd, ACCESS_REMOVE_DIR);
		sys_close(fd);
		step("landlock: rule: directories may be removed in the one above");
	}
	/* LMbench writes there. */
	fd = SYS(openat, AT_FDCWD, "/dev/null", O_PATH | O_CLOEXEC, 0);
	if (fd >= 0) {
		landlock_add_path(ruleset, fd, ACCESS_WRITE_FILE | ACCESS_READ_FILE);
		sys_close(fd);
		step("landlock: rule: /dev/null may be written");
	}
	add_chains(ruleset, p->rules);
	how = landlock_restrict_self(ruleset, layers, 0);
	step("landlock: landlock_restrict_self %u times, %s", layers, how);
	sys_close(ruleset);
}

static void prove(const struct policy *p)
{
	static const char inside[] = "landlock-allowed";
	static const char outside[] = "../landlock-denied";
	long fd;

	if (p->state != POLICY_ENFORCING)
		return;
	fd = sys_open(outside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0) {
		sys_close(fd);
		sys_unlink(outside);
	}
	prove_denied(p, "creat of ../landlock-denied", fd, -EACCES);
	fd = sys_open(inside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	prove_allowed(p, "creat of ./landlock-allowed", fd);
	sys_close(fd);
	fd = sys_unlink(inside);
	or_fatal(fd, "landlock: unlink of %s", inside);
}

static void label(const struct policy *p)
{
	/* Programs have their own files. */
	if (p->given && !programs)
		landlock_given_make(p);
}

POLICY_MODULE(landlock) = {
	.name = "landlock",
	.last = 1,
	.label = label,
	.confine = confine,
	.start = confine,
	.log_denials = landlock_given_log,
	.prove = prove,
};
