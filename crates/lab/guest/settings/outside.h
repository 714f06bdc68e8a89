/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confined processes may be allowed little. So a process created before any policy was loaded runs
 * privileged work: it reads kernel memory statistics, loads a policy again, relabels.
 */
#ifndef LSMETER_SETTINGS_OUTSIDE_H
#define LSMETER_SETTINGS_OUTSIDE_H

#include "../agent.h"

/* Called before any policy is loaded. */
void outside_start(void);
/* Calls what() with a copy of the `size` bytes at argument; returns its result. */
long outside_do(long (*what)(const void *argument), const void *argument, size_t size);

#endif
