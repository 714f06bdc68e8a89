/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tunable Security Module: which hooks are delay points, and which of them
 * do more than wait. Every hook of lsm_hook_defs.h that is not named here
 * gets a function that waits and returns the hook's default value.
 */
#ifndef _SECURITY_TUNABLE_POINTS_H
#define _SECURITY_TUNABLE_POINTS_H

/*
 * Hooks left out: a module that answers changes what the caller sees, and no
 * answer is neutral in every tree and in every order of modules.
 */
/* The first module that has them answers; a later one is not asked. */
#define TUNABLE_LEAVE_OUT_getprocattr			1
#define TUNABLE_LEAVE_OUT_setprocattr			1
/* The first module's verdict stands; a later one is not asked. */
#define TUNABLE_LEAVE_OUT_xfrm_state_pol_flow_match	1
/*
 * Before each hook had one default, a 0 meant "here is the peer's label", and
 * the error that means "there is none" kept later modules from being asked.
 */
#define TUNABLE_LEAVE_OUT_socket_getpeersec_stream	1
#define TUNABLE_LEAVE_OUT_socket_getpeersec_dgram	1

/* Hooks with a function written by hand: labels (label.c) and denial. */
#define TUNABLE_BY_HAND_bprm_creds_for_exec		1
#define TUNABLE_BY_HAND_cred_alloc_blank		1
#define TUNABLE_BY_HAND_cred_prepare			1
#define TUNABLE_BY_HAND_cred_transfer			1
#define TUNABLE_BY_HAND_d_instantiate			1
#define TUNABLE_BY_HAND_file_open			1
#define TUNABLE_BY_HAND_file_permission			1
#define TUNABLE_BY_HAND_inode_alloc_security		1
#define TUNABLE_BY_HAND_inode_getsecurity		1
#define TUNABLE_BY_HAND_inode_init_security		1
#define TUNABLE_BY_HAND_inode_permission		1
#define TUNABLE_BY_HAND_inode_post_removexattr		1
#define TUNABLE_BY_HAND_inode_post_setxattr		1
#define TUNABLE_BY_HAND_inode_removexattr		1
#define TUNABLE_BY_HAND_inode_setsecurity		1
#define TUNABLE_BY_HAND_inode_setxattr			1
#define TUNABLE_BY_HAND_inode_xattr_skipcap		1
#define TUNABLE_BY_HAND_sb_set_mnt_opts			1

/*
 * TUNABLE_WHERE(FLAG, code) is the code where FLAG is defined as 1,
 * TUNABLE_UNLESS(FLAG, code) is the code where it is not defined.
 */
#define TUNABLE_WHERE(flag, ...) \
	__PASTE(TUNABLE_WHERE_, __is_defined(flag))(__VA_ARGS__)
#define TUNABLE_WHERE_0(...)
#define TUNABLE_WHERE_1(...)	__VA_ARGS__

#define TUNABLE_UNLESS(flag, ...) \
	__PASTE(TUNABLE_UNLESS_, __is_defined(flag))(__VA_ARGS__)
#define TUNABLE_UNLESS_0(...)	__VA_ARGS__
#define TUNABLE_UNLESS_1(...)

/* One number for each delay point of this tree and configuration. */
enum tunable_point {
#define LSM_HOOK(RET, DEFAULT, NAME, ...) \
	TUNABLE_UNLESS(TUNABLE_LEAVE_OUT_##NAME, TUNABLE_##NAME,)
#include <linux/lsm_hook_defs.h>
#undef LSM_HOOK
	TUNABLE_POINTS
};

#endif /* _SECURITY_TUNABLE_POINTS_H */
