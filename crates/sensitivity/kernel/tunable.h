/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tunable Security Module: declarations shared by its files.
 */
#ifndef _SECURITY_TUNABLE_H
#define _SECURITY_TUNABLE_H

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/lsm_hooks.h>
#include <linux/security.h>
#include <linux/types.h>

#include "asked.h"
#include "points.h"

#define TUNABLE_NAME		"tunable"
#define TUNABLE_XATTR		"security.tunable"

/* Longer waits, one for each hook of a call, would look like a hang. */
#define TUNABLE_DELAY_MAX_NS	1000000

/*
 * Labels of processes and inodes. The first three numbers are those of
 * "Analyzing the Overhead of Filesystem Protection Using Linux Security
 * Modules", section 4.2. Inodes whose xattr has not been read yet are
 * TUNABLE_UNREAD, which counts as ignored.
 */
enum tunable_label {
	TUNABLE_TRUSTED,
	TUNABLE_UNTRUSTED,
	TUNABLE_IGNORED,
	TUNABLE_UNREAD,
};

extern struct lsm_blob_sizes tunable_blob_sizes;
extern bool tunable_enabled;

/* tunable.c: stage, delays and counts */
bool tunable_in_scope(void);
void tunable_delay(enum tunable_point point);
bool tunable_denies(const struct inode *inode);
bool tunable_enforcing(void);
void tunable_set_enforcing(bool on);
bool tunable_counting(void);
int tunable_set_counting(bool on);
bool tunable_denying(void);
void tunable_set_denying(bool on);
int tunable_find_point(const char *name);
const char *tunable_point_name(enum tunable_point point);
u32 tunable_get_delay(enum tunable_point point);
void tunable_set_delays(const u32 *delays_ns);
u64 tunable_calls(enum tunable_point point);

/* control.c */
char *tunable_copy_written(const char __user *buf, size_t count, loff_t *ppos);

/* label.c */
enum tunable_label tunable_cred_label(const struct cred *cred);
enum tunable_label tunable_inode_label(const struct inode *inode);
void tunable_set_cred_label(const struct cred *cred, enum tunable_label label);
const char *tunable_label_name(enum tunable_label label);
int tunable_parse_label(const char *text, size_t len);

/* The hooks written by hand, as this tree declares them. */
#define LSM_HOOK(RET, DEFAULT, NAME, ...) \
	TUNABLE_WHERE(TUNABLE_BY_HAND_##NAME, RET tunable_##NAME(__VA_ARGS__);)
#include <linux/lsm_hook_defs.h>
#undef LSM_HOOK

#endif /* _SECURITY_TUNABLE_H */
