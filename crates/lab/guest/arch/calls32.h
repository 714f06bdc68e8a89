/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System call numbers of 32-bit programs, as CALL_32(name), that all architectures share.
 * NAME/calls32.h defines the others.
 */
#ifndef LSMETER_ARCH_CALLS32_H
#define LSMETER_ARCH_CALLS32_H

#define CALL_32(name)	CALL_32_##name

#define CALL_32_adjtimex	124
#define CALL_32_settimeofday	79
#define CALL_32_stime	25
#define CALL_32_sethostname	74
#define CALL_32_setdomainname	121
#define CALL_32_chmod	15
#define CALL_32_fchmod	94
#define CALL_32_lchown	16
#define CALL_32_fchown	95
#define CALL_32_chown	182
#define CALL_32_setxattr	226
#define CALL_32_lsetxattr	227
#define CALL_32_fsetxattr	228
#define CALL_32_removexattr	235
#define CALL_32_lremovexattr	236
#define CALL_32_fremovexattr	237
#define CALL_32_open	5
#define CALL_32_creat	8
#define CALL_32_truncate	92
#define CALL_32_ftruncate	93
#define CALL_32_mount	21
#define CALL_32_unlink	10
#define CALL_32_rename	38

#endif
