/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of audit rules, as data. audit.c loads them and checks that they work. */
#ifndef LSMETER_SETTINGS_AUDIT_H
#define LSMETER_SETTINGS_AUDIT_H

#include <linux/audit.h>
#include "../policy.h"

#define SET_USER	1000u	/* the lowest user that may log in */
#define SET_SYSCALLS_MAX	8

/* The key audit_rules of the directive; lab/src/policy/others.rs has the same numbers. */
enum audit_set {
	AUDIT_SET_FILE_ACCESS,	/* the default in policy/audit.c */
	AUDIT_SET_NONE,
	AUDIT_SET_NEVER_TASK,
	AUDIT_SET_ONE,
	AUDIT_SET_STIG,
	AUDIT_SET_MAX,
};

/* The fields of a rule, in this order, and its system calls. */
struct set_rule {
	const char *text;	/* as for auditctl, with the calls' names first */
	const char *key;
	u32 arch;		/* 0: all, only for a watch */
	const char *path;	/* of a watch: path_field is AUDIT_WATCH or AUDIT_DIR */
	u32 path_field;
	u32 fields[3], values[3], operators[3];
	/* In the text's order, up to a final 0, or SYS_ABSENT. */
	u16 syscalls[SET_SYSCALLS_MAX];
};

/* The rules of a set in loading order, up to a NULL. */
const struct set_rule *const *audit_rules_of(u32 set);
/* The rule -a task,never, which is on another list and has no field. */
extern const struct set_rule audit_never_task;

/* audit-stig.c: the set, and the directories of its watches. */
const struct set_rule *const *audit_stig(void);
void audit_make_directories(void);

/* policy/audit.c: a netlink socket that receives these groups. */
long audit_socket(u32 groups);
/* Sends a request and waits for its acknowledgement: 0 or -errno. */
long audit_request(long fd, u16 type, const void *data, u32 len);

/* For policy/audit.c: selects, loads and checks a set. */
static inline u32 audit_set_of(const struct policy *p)
{
	return p->audit_rules;
}
void audit_load_set(long fd, const struct policy *p);
/* Called before modules confine the agent, which then could not send requests or log in. */
void audit_prove_set(const struct policy *p);
/* The kernel's number of rules. */
u32 audit_count_rules(long fd);
/* given-audit.c: loads the user's rules while audit is off. */
void audit_load_given(long fd, const struct policy *p);
/* AUDIT_ADD_RULE or AUDIT_DEL_RULE. */
void audit_change_rule(long fd, u16 request_type, const struct set_rule *rule);

#define LOGGED_IN_FIELDS(first...)	.fields = { first AUDIT_LOGINUID, AUDIT_LOGINUID }
#define LOGGED_IN_VALUES(first...)	.values = { first SET_USER, (u32)-1 }
#define LOGGED_IN_OPERATORS(first...)	\
	.operators = { first AUDIT_GREATER_THAN_OR_EQUAL, AUDIT_NOT_EQUAL }
/* A logged-in user, not a service. */
#define LOGGED_IN	LOGGED_IN_FIELDS(), LOGGED_IN_VALUES(), LOGGED_IN_OPERATORS()
#define LOGGED_IN_TEXT	" -F auid>=1000 -F auid!=unset"

#endif
