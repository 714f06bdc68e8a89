/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is confined may be allowed little. So a process that was made before any policy was loaded
 * does what its like may not: reads what the kernel holds, loads a policy anew, relabels.
 */
#ifndef LSMETER_SETTINGS_OUTSIDE_H
#define LSMETER_SETTINGS_OUTSIDE_H

#include "../agent.h"

/* Before any policy is loaded. */
void outside_start(void);
/* It calls what(argument), a copy of these `size` bytes; what that returns. */
long outside_do(long (*what)(const void *argument), const void *argument, size_t size);

#endif
