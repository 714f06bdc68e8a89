// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measured: a netlink request to audit and the receipt of its answer. `add`: a rule about the
 * agent's label is added; undo: the rule is deleted. `again`: adding it once more fails with
 * EEXIST. `match`: a user-space message that matches such a rule. `written`: a message that no
 * rule suppresses; a kernel task writes the record, and its work counts. Without labelling
 * modules, a rule about a label matches nothing but is accepted.
 */
#include <linux/audit.h>
#include "../netlink.h"

enum { ADD, AGAIN, MATCH, WRITTEN };	/* arg of variants */

struct rule {
	struct nlmsghdr head;
	struct audit_rule_data data;
	char label[LABEL_MAX];
};

static void describe(struct cell *c, int type, u32 field)
{
	struct rule *rule = order(c);
	size_t len;

	/* The user in SELinux's context. */
	for (len = 0; c->path[len] && c->path[len] != ':';)
		len++;
	*rule = (struct rule){
		.head = {
			.nlmsg_len = offsetof(struct rule, label) + len,
			.nlmsg_type = type,
		},
		.data = {
			.flags = AUDIT_FILTER_USER,
			.action = AUDIT_NEVER,
			.field_count = 1,
			.fields = { field },
			.fieldflags = { AUDIT_EQUAL },
			.values = { len },
			.buflen = len,
		},
	};
	memcpy(rule->label, c->path, len);
}

static void describe_message(struct cell *c)
{
	struct nlmsghdr *head = order(c);

	head->nlmsg_type = AUDIT_USER_AVC;
	head->nlmsg_len = NLMSG_LENGTH(format(NLMSG_DATA(head), LABEL_MAX, "lsmeter"));
}

/*
 * AppArmor only supports rules about what it calls a role; the kernel would accept a rule about a
 * user with a warning. SELinux contexts have colons, and come first if both modules are active.
 */
static int is_role(const char *label)
{
	char byte;
	long fd;

	for (; *label; label++)
		if (*label == ':')
			return 0;
	fd = sys_open("/proc/self/attr/apparmor/current", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	byte = sys_read(fd, &byte, 1) == 1;
	sys_close(fd);
	return byte;
}

static long tell(struct cell *c, int type)
{
	describe(c, type, c->state[0]);
	return give_order(c);
}

static void teardown(struct cell *c)
{
	if (c->variant->arg == AGAIN || c->variant->arg == MATCH)
		tell(c, AUDIT_DEL_RULE);
	close_all(c);
}

static int setup(struct cell *c)
{
	int ret = open_netlink(c, AUDIT), labelled;
	long err;

	if (ret)
		return ret;
	labelled = choose_label(c);
	c->state[0] = is_role(c->path) ? AUDIT_SUBJ_ROLE : AUDIT_SUBJ_USER;
	err = tell(c, AUDIT_ADD_RULE);
	if (!err && (c->variant->arg == AGAIN || (c->variant->arg == MATCH && labelled)))
		return 0;
	if (!err)
		tell(c, AUDIT_DEL_RULE);
	if (!err && c->variant->arg != MATCH)
		return 0;
	close_all(c);
	if (!err)
		return unsupported(c, "no module of the stack has labels", 0);
	if (err == -EPERM || err == -ECONNREFUSED)
		return unsupported(c, "audit takes no rules from this user", err);
	if (err == -EOPNOTSUPP || err == -EINVAL)
		return unsupported(c, "a module takes no rules about labels before it has a policy", err);
	return failed(c, "a rule of audit", err);
}

static int prepare(struct cell *c, unsigned int i)
{
	if (c->variant->arg == ADD || c->variant->arg == AGAIN)
		describe(c, AUDIT_ADD_RULE, c->state[0]);
	else
		describe_message(c);
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	long ret = give_order(c);

	return ret == -EEXIST && c->variant->arg == AGAIN ? 0 : ret;
}

SLOT(undo, c->variant->arg == ADD ? tell(c, AUDIT_DEL_RULE) : 0);

static int check(struct cell *c)
{
	long ret = prepare(c, 0);

	if (ret >= 0)
		ret = op(c, 0);
	if (ret < 0 || c->variant->arg == MATCH || c->variant->arg == WRITTEN)
		return ret;
	/* The rule exists already. */
	ret = give_order(c);
	return ret == -EEXIST ? undo(c, 0) : failed(c, "audit: wrong result", ret);
}

BENCH("audit-rule", ADMIN, ADMIN, 24,
      "audit rules about labels: added, added again, and messages that match one or none",
      .source = "auditctl(8)", .syscalls = "sendto recvfrom", .max_batch = 1, .counts_children = 1,
      .variants = VARIANTS({ "add", .arg = ADD },
			   { "again", .arg = AGAIN },
			   { "match", .arg = MATCH },
			   { "written", .arg = WRITTEN }),
      .setup = setup, .check = check, .prepare = prepare, .op = op, .undo = undo,
      .teardown = teardown);
