/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions of the SELinux policy in force. */
#ifndef LSMETER_SETTINGS_DECISIONS_H
#define LSMETER_SETTINGS_DECISIONS_H

#include "../policy.h"

#define SELINUXFS	"/sys/fs/selinux"
/* AVD_FLAGS_PERMISSIVE of security/selinux/include/security.h. */
#define FLAG_PERMISSIVE	1

/* The decision for a source context on a target: see sel_write_access() of selinuxfs.c. */
struct decision {
	u32 allowed;
	u32 audited;	/* recorded if denied: not hidden by a dontaudit rule */
	u32 flags;
};

struct decision decide(const char *source, const char *target, const char *class);
u32 permission_bit(const char *class, const char *permission);
/*
 * For a custom policy: the reason why an access (`read`, `write` ...) that passed is not in the
 * log.
 */
const char *why_unlogged(const char *source, const char *target, const char *access);

#endif
