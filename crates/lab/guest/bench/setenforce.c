// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a write of 1 to SELinux's file `enforce`, previously 0, with an audit rule in force.
 * SELinux forgets its cached decisions and checks each audit rule for labels: `rule` has none,
 * `label-rule` has one and is rebuilt. The write waits for an RCU grace period, in which other
 * kernel tasks run, and their work counts. Grace periods are expedited, because they would
 * otherwise wait for clock ticks. The rule suppresses the audit record of the write, because
 * another task would write that record. prepare() writes 0. Undo: the previous value is restored.
 */
#include <linux/audit.h>
#include "../netlink.h"
#include "../vm-only.h"

#define SELINUXFS	"/sys/fs/selinux"
#define EXPEDITED	"/sys/kernel/rcu_expedited"
#define FILE		3	/* c->fd[] */

enum { RULE, LABEL_RULE };	/* arg of variants */
/* c->state[]: previous mode; selinuxfs was not mounted; grace periods were expedited */
enum { FOUND, MOUNTED, HASTE };

struct rule {
	struct nlmsghdr head;
	struct audit_rule_data data;
	char label[LABEL_MAX];
};

static long tell(struct cell *c, int type)
{
	struct rule *rule = order(c);
	size_t len = 0;

	/* The user in SELinux's context. */
	if (c->variant->arg == LABEL_RULE)
		while (c->path[len] && c->path[len] != ':')
			len++;
	*rule = (struct rule){
		.head = {
			.nlmsg_len = offsetof(struct rule, label) + len,
			.nlmsg_type = type,
		},
		.data = {
			.flags = AUDIT_FILTER_EXCLUDE,
			.action = AUDIT_NEVER,
			.field_count = len ? 2 : 1,
			.fields = { AUDIT_MSGTYPE, AUDIT_SUBJ_USER },
			.fieldflags = { AUDIT_EQUAL, AUDIT_EQUAL },
			.values = { AUDIT_MAC_STATUS, len },
			.buflen = len,
		},
	};
	memcpy(rule->label, c->path, len);
	return give_order(c);
}

static long enforcing(struct cell *c)
{
	char digit = 0;
	long ret = SYS(pread64, c->fd[FILE], &digit, 1, 0);

	return ret < 0 ? ret : digit == '1';
}

static long enforce(struct cell *c, int on)
{
	return SYS(pwrite64, c->fd[FILE], on ? "1" : "0", 1, 0);
}

/* Sets whether grace periods are expedited. Returns the previous value, or -errno. */
static long hasten(long on)
{
	char digit = 0, other = on ? '1' : '0';
	long fd = sys_open(EXPEDITED, O_RDWR | O_CLOEXEC, 0), ret;

	if (fd < 0)
		return fd;
	ret = SYS(pread64, fd, &digit, 1, 0);
	if (ret >= 0)
		ret = SYS(pwrite64, fd, &other, 1, 0);
	sys_close(fd);
	return ret < 0 ? ret : digit != '0';
}

/*
 * Whether a policy is loaded, according to the agent's label, which is left in c->path: without a
 * policy it is one word.
 */
static int has_policy(struct cell *c)
{
	const char *label = c->path;

	choose_label(c);
	while (*label && *label != ':')
		label++;
	return *label == ':';
}

static long open_file(struct cell *c)
{
	return open_as(c, FILE, SELINUXFS "/enforce", O_RDWR | O_CLOEXEC);
}

/* Stores the current state in FOUND, and changes nothing. */
static int find_selinux(struct cell *c)
{
	long ret = open_file(c);

	if (ret == -ENOENT) {
		ret = SYS(mount, "selinuxfs", SELINUXFS, "selinuxfs", 0, NULL);
		if (ret < 0)
			return unsupported(c, "SELinux does not run", ret);
		c->state[MOUNTED] = 1;
		ret = open_file(c);
	}
	if (ret >= 0)
		ret = enforcing(c);
	if (ret < 0)
		return unsupported(c, "SELinux's mode is not for this user", ret);
	c->state[FOUND] = ret;
	/* It is not known in advance whether the policy would let the agent revert this. */
	if (has_policy(c) && !ret)
		return unsupported(c, "what this policy only notes would be denied", 0);
	return 0;
}

static int add_rule(struct cell *c)
{
	long ret = open_netlink(c, AUDIT);

	if (ret)
		return ret;
	ret = tell(c, AUDIT_ADD_RULE);
	if (ret == -EPERM || ret == -ECONNREFUSED)
		return unsupported(c, "audit takes no rules from this user", ret);
	if (ret == -EOPNOTSUPP || ret == -EINVAL)
		return unsupported(c, "SELinux takes no rules about labels before it has a policy", ret);
	return ret < 0 ? failed(c, "a rule of audit", ret) : 0;
}

static void leave(struct cell *c)
{
	close_all(c);
	if (c->state[MOUNTED])
		SYS(umount2, SELINUXFS, 0);
}

SLOT(undo, enforce(c, c->state[FOUND]));

/* This runs while nothing is enforced, so that the policy need not allow it. */
static void teardown(struct cell *c)
{
	enforce(c, 0);
	tell(c, AUDIT_DEL_RULE);
	if (!c->state[HASTE])
		hasten(0);
	undo(c, 0);
	leave(c);
}

static int setup(struct cell *c)
{
	int ret = vm_only(c, "it would switch the machine's SELinux off and on");
	long err;

	if (ret)
		return ret;
	ret = find_selinux(c);
	err = ret ? 0 : enforce(c, 0);
	if (!ret && err < 0)
		ret = unsupported(c, "the policy denies it, or SELinux has one mode here", err);
	if (!ret) {
		ret = add_rule(c);
		if (!ret)
			c->state[HASTE] = hasten(1);
		undo(c, 0);
	}
	if (ret)
		leave(c);
	return ret;
}

static int prepare(struct cell *c, unsigned int i)
{
	long ret = enforce(c, 0);

	return ret < 0 ? ret : 0;
}

OP(op, enforce(c, 1));

static int check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret < 0)
		return ret;
	if (enforcing(c))
		return failed(c, "enforce: 0 has no effect", 0);
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	if (enforcing(c) != 1)
		return failed(c, "enforce: 1 has no effect", 0);
	/* The rule still exists. */
	ret = enforce(c, 0);
	if (ret >= 0)
		ret = tell(c, AUDIT_ADD_RULE);
	return ret == -EEXIST ? undo(c, 0) : failed(c, "a rule of audit: wrong result", ret);
}

BENCH("setenforce", ADMIN, ADMIN, 28, "SELinux switched to enforcing, with an audit rule",
      .source = "setenforce(8)", .syscalls = "pwrite64", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "rule", .arg = RULE }, { "label-rule", .arg = LABEL_RULE }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
