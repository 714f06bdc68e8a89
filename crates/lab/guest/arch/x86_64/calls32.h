/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of calls that 32-bit programs make, as CALL_32(name): arch/x86/entry/syscalls/
 * syscall_32.tbl of Linux. The table of the other numbers cannot be included beside
 * sys.h's; calls32.c holds these to it.
 */
#ifndef LSMETER_CALLS32_H
#define LSMETER_CALLS32_H

#define CALL_32(name)	CALL_32_##name

#define CALL_32_adjtimex	124
#define CALL_32_settimeofday	79
#define CALL_32_stime	25
#define CALL_32_clock_settime	264
#define CALL_32_sethostname	74
#define CALL_32_setdomainname	121
#define CALL_32_chmod	15
#define CALL_32_fchmod	94
#define CALL_32_fchmodat	306
#define CALL_32_lchown	16
#define CALL_32_fchown	95
#define CALL_32_chown	182
#define CALL_32_fchownat	298
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
#define CALL_32_openat	295
#define CALL_32_open_by_handle_at	342
#define CALL_32_mount	21
#define CALL_32_unlink	10
#define CALL_32_unlinkat	301
#define CALL_32_rename	38
#define CALL_32_renameat	302
#define CALL_32_ioctl	54

#endif
