/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System call numbers of 32-bit programs, as CALL_32(name): arch/x86/entry/syscalls/syscall_32.tbl
 * of Linux. Its header conflicts with that of sys.h, so calls32.c checks these numbers.
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
