/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Landlock's system calls; failures are fatal(). */
#ifndef LSMETER_POLICY_LANDLOCK_H
#define LSMETER_POLICY_LANDLOCK_H

#include "../landlock.h"
#include "../policy.h"

/* The kernel's Landlock ABI version. */
long landlock_abi(void);
/* File system rights of an ABI version, including all lower bits. */
u64 landlock_rights_of(long abi);
void landlock_add_rule(long ruleset, long type, const void *rule);
void landlock_add_path(long ruleset, long fd, u64 allowed);
/* Restricts the agent that many times. Returns a text that states why this was permitted. */
const char *landlock_restrict_self(long ruleset, u32 layers, u32 flags);

/* settings/given-landlock.c: custom rulesets. */
void landlock_given_make(const struct policy *p);
void landlock_given_confine(const struct policy *p);
int landlock_given_log(void);

#endif
