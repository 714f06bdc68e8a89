/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Landlock's system calls; what goes wrong is fatal(). */
#ifndef LSMETER_POLICY_LANDLOCK_H
#define LSMETER_POLICY_LANDLOCK_H

#include "../landlock.h"
#include "../policy.h"

/* What this kernel knows: its ABI's version. */
long landlock_abi(void);
/* File system rights that an ABI version knows: it knows all lower bits too. */
u64 landlock_rights_of(long abi);
void landlock_add_rule(long ruleset, long type, const void *rule);
void landlock_add_path(long ruleset, long fd, u64 allowed);
/* As many times; how it was allowed to, in words. */
const char *landlock_restrict_self(long ruleset, u32 layers);

/* settings/given-landlock.c: rulesets of the user's own. */
void landlock_given_make(const struct policy *p);
void landlock_given_confine(const struct policy *p);

#endif
