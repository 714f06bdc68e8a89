/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Landlock's system calls; what goes wrong is fatal(). */
#ifndef LSMETER_POLICY_LANDLOCK_H
#define LSMETER_POLICY_LANDLOCK_H

#include "../policy.h"

#define LANDLOCK_CREATE_RULESET		444
#define LANDLOCK_ADD_RULE		445
#define LANDLOCK_RESTRICT_SELF		446
#define CREATE_RULESET_VERSION		1
#define RULE_PATH_BENEATH		1
#define RULE_NET_PORT			2

/* include/uapi/linux/landlock.h, which the build machine need not have. */
#define ACCESS_EXECUTE		(1ull << 0)
#define ACCESS_WRITE_FILE	(1ull << 1)
#define ACCESS_READ_FILE	(1ull << 2)
#define ACCESS_READ_DIR		(1ull << 3)
#define ACCESS_REMOVE_DIR	(1ull << 4)
#define ACCESS_READ		(ACCESS_EXECUTE | ACCESS_READ_FILE | ACCESS_READ_DIR)
#define ACCESS_TRUNCATE		(1ull << 14)
#define ACCESS_IOCTL_DEV	(1ull << 15)

/* What this kernel knows: its ABI's version. */
long landlock_abi(void);
/* File system rights that an ABI version knows: it knows all lower bits too. */
u64 landlock_rights_of(long abi);
void landlock_add_rule(long ruleset, long type, const void *rule);
void landlock_add_path(long ruleset, long fd, u64 allowed);
/* As many times; how it was allowed to, in words. */
const char *landlock_restrict_self(long ruleset, u32 layers);

#ifdef SETTINGS
/* settings/given-landlock.c: rulesets of the user's own. */
void landlock_given_make(const struct policy *p);
void landlock_given_confine(const struct policy *p);
#endif

#endif
