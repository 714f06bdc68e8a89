/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of calls that 32-bit programs make, as CALL_32(name): arch/x86/entry/syscalls/
 * syscall_32.tbl of Linux. The table of the other numbers cannot be included beside
 * sys.h's; calls32.c holds these to it.
 */
#ifndef LSMETER_CALLS32_H
#define LSMETER_CALLS32_H

#include "../calls32.h"

#define CALL_32_clock_settime	264
#define CALL_32_fchmodat	306
#define CALL_32_fchownat	298
#define CALL_32_openat	295
#define CALL_32_open_by_handle_at	342
#define CALL_32_unlinkat	301
#define CALL_32_renameat	302
#define CALL_32_ioctl	54

#endif
