// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the available sets of audit rules. */
#include "audit.h"

/* The first rule of policy/audit.c. */
static const struct set_rule refused = {
	.text = "-S open,openat,creat,truncate,ftruncate,open_by_handle_at -F exit=-EACCES "
		"-k access",
	.key = "access", .arch = ARCH_AUDIT, .fields = { AUDIT_EXIT },
	.values = { (u32)-EACCES }, .operators = { AUDIT_EQUAL },
	.syscalls = { SYS_NUMBER(open), SYS_NUMBER(openat), SYS_NUMBER(creat),
		      SYS_NUMBER(truncate), SYS_NUMBER(ftruncate),
		      SYS_NUMBER(open_by_handle_at) },
};

/* rules/10-no-audit.rules of audit. */
const struct set_rule audit_never_task = { .text = "-a task,never" };

const struct set_rule *const *audit_rules_of(u32 set)
{
	static const struct set_rule *const one[] = { &refused, NULL };
	static const struct set_rule *const never_task[] = { &audit_never_task, NULL };
	static const struct set_rule *const none[] = { NULL };
	static const struct set_rule *const *const sets[AUDIT_SET_MAX] = {
		[AUDIT_SET_FILE_ACCESS] = none,
		[AUDIT_SET_NONE] = none,
		[AUDIT_SET_NEVER_TASK] = never_task,
		[AUDIT_SET_ONE] = one,
	};

	return set == AUDIT_SET_STIG ? audit_stig() : sets[set];
}
