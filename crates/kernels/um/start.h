/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface between the agent and the driver; it works with the headers of both. */
#ifndef LSMETER_START_H
#define LSMETER_START_H

/* start_user.c: runs the agent from its hello to the end of this kernel. */
__attribute__((noreturn)) void lsmeter_start(void);

/* call.c: calls a system call's function, and does the work of the return to user space. */
long lsmeter_call(long nr, long a, long b, long c, long d, long e, long f);

/* The number of calls in this kernel's table; all kernels have those below LSMETER_OLD_CALLS. */
long lsmeter_call_count(void);
#define LSMETER_OLD_CALLS	440

#endif
