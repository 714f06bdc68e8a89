// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets of audit rules in place of the default in policy/audit.c. */
#include <linux/netlink.h>
#include "audit.h"

/* A rule as data for AUDIT_ADD_RULE and AUDIT_DEL_RULE. */
struct rule_message {
	struct audit_rule_data rule;
	char strings[64];
};

static void put_field(struct audit_rule_data *r, u32 field, u32 operator, u32 value)
{
	r->fields[r->field_count] = field;
	r->values[r->field_count] = value;
	r->fieldflags[r->field_count++] = operator;
}

/* A string field: the rule has its length, and the strings follow. */
static void put_string(struct rule_message *message, u32 field, const char *text)
{
	u32 size = strlen(text);

	if (message->rule.buflen + size > sizeof(message->strings))
		fatal("audit: a rule's strings are longer than %lu bytes",
		      sizeof(message->strings));
	put_field(&message->rule, field, AUDIT_EQUAL, size);
	memcpy(message->strings + message->rule.buflen, text, size);
	message->rule.buflen += size;
}

static void put_calls(struct audit_rule_data *r, const struct set_rule *rule)
{
	u32 i;

	/* A watch is for all calls; the kernel reserves the last word for classes of calls. */
	if (rule->path)
		for (i = 0; i < AUDIT_BITMASK_SIZE - 1; i++)
			r->mask[i] = ~0u;
	for (i = 0; i < SET_SYSCALLS_MAX && rule->syscalls[i]; i++)
		if (rule->syscalls[i] != SYS_ABSENT)
			r->mask[AUDIT_WORD(rule->syscalls[i])] |=
				AUDIT_BIT(rule->syscalls[i]);
}

void audit_change_rule(long fd, u16 request_type, const struct set_rule *rule)
{
	static struct rule_message message;
	struct audit_rule_data *r = &message.rule;
	long err;
	u32 i;

	memset(&message, 0, sizeof(message));
	r->flags = AUDIT_FILTER_EXIT;
	r->action = AUDIT_ALWAYS;
	if (rule == &audit_never_task) {
		r->flags = AUDIT_FILTER_TASK;
		r->action = AUDIT_NEVER;
	}
	if (rule->arch)
		put_field(r, AUDIT_ARCH, AUDIT_EQUAL, rule->arch);
	if (rule->path)
		put_string(&message, rule->path_field, rule->path);
	for (i = 0; i < ARRAY_SIZE(rule->fields) && rule->operators[i]; i++)
		put_field(r, rule->fields[i], rule->operators[i], rule->values[i]);
	if (rule->key)
		put_string(&message, AUDIT_FILTERKEY, rule->key);
	put_calls(r, rule);
	err = audit_request(fd, request_type, r, sizeof(*r) + r->buflen);
	or_fatal(err, "audit: %s a rule (%s)",
		 request_type == AUDIT_ADD_RULE ? "adding" : "removing", rule->text);
}

/* The beginning of a rule's text: its list and architecture. */
static const char *before_text(const struct set_rule *rule)
{
	if (!rule->arch)
		return "";
	return rule->arch == ARCH_AUDIT ? "-a always,exit -F arch=b64 "
					: "-a always,exit -F arch=b32 ";
}

/* The kernel's number of rules, as auditctl -l lists them. */
u32 audit_count_rules(long fd)
{
	static struct {
		struct nlmsghdr head;
		char data[sizeof(struct rule_message) + 64];
	} in;
	const struct nlmsghdr ask = {
		.nlmsg_len = sizeof(ask),
		.nlmsg_type = AUDIT_LIST_RULES,
		.nlmsg_flags = NLM_F_REQUEST,
		.nlmsg_seq = 2,
	};
	u32 count = 0;
	long n;

	n = SYS(sendto, fd, &ask, sizeof(ask), 0, NULL, 0);
	while (n >= 0 || n == -EINTR) {
		n = SYS(recvfrom, fd, &in, sizeof(in), 0, NULL, NULL);
		if (n >= (long)sizeof(in.head) && in.head.nlmsg_type == NLMSG_DONE)
			return count;
		count += n >= (long)sizeof(in.head) &&
			 in.head.nlmsg_type == AUDIT_LIST_RULES;
	}
	fatal("audit: auditctl -l: %s (%ld)", errno_name(n), -n);
}

/* Loads the rules of a set while audit is off. */
void audit_load_set(long fd, const struct policy *p)
{
	const struct set_rule *const *rule;
	u32 count = 0, found;

	if (p->audit_rules == AUDIT_SET_FILE_ACCESS)
		return;
	if (p->audit_rules == AUDIT_SET_STIG)
		audit_make_directories();
	for (rule = audit_rules_of(p->audit_rules); *rule; rule++, count++) {
		audit_change_rule(fd, AUDIT_ADD_RULE, *rule);
		step("audit: auditctl %s%s", before_text(*rule), (*rule)->text);
	}
	found = audit_count_rules(fd);
	if (found != count)
		fatal("audit: auditctl -l lists %u rules: %u were added", found, count);
	step("audit: auditctl -l: %u rules", found);
}
