/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tunable Security Module: hooks that are not delay points, and hooks that do
 * more than wait. Every other hook of lsm_hook_defs.h gets a function that
 * waits and returns the hook's default value.
 */
#ifndef _SECURITY_TUNABLE_POINTS_H
#define _SECURITY_TUNABLE_POINTS_H

/*
 * Hooks left out: no return value is neutral in every tree and in every order
 * of modules.
 */
/* Only the first module with these hooks is called. */
#define TUNABLE_LEAVE_OUT_getprocattr			1
#define TUNABLE_LEAVE_OUT_setprocattr			1
/* The first module decides; later ones are not called. */
#define TUNABLE_LEAVE_OUT_xfrm_state_pol_flow_match	1
/*
 * Before each hook had one default, 0 meant that there is a peer's label, and
 * the error for "no label" kept later modules from being called.
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
 * TUNABLE_WHERE(FLAG, code) is the code if FLAG is defined as 1,
 * TUNABLE_UNLESS(FLAG, code) if it is not defined.
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
