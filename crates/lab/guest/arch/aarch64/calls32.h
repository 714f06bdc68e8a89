/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System call numbers of 32-bit programs, as CALL_32(name): arch/arm/tools/syscall.tbl of Linux. */
#ifndef LSMETER_CALLS32_H
#define LSMETER_CALLS32_H

#include "../calls32.h"

#define CALL_32_clock_settime	262
#define CALL_32_fchmodat	333
#define CALL_32_fchownat	325
#define CALL_32_openat	322
#define CALL_32_open_by_handle_at	371
#define CALL_32_unlinkat	328
#define CALL_32_renameat	329

#endif
