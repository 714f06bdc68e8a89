/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent and the driver know of each other; both kinds of headers suit it. */
#ifndef LSMETER_START_H
#define LSMETER_START_H

/* start_user.c: the agent from its hello to this kernel's end. */
__attribute__((noreturn)) void lsmeter_start(void);

/* call.c: a system call's function, and the work that its return to user space does. */
long lsmeter_call(long nr, long a, long b, long c, long d, long e, long f);

/* How many calls there are, which have numbers below; all kernels have those up to the other. */
long lsmeter_call_count(void);
#define LSMETER_OLD_CALLS	440

#endif
