/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.c: the metric memory. */
#ifndef LSMETER_SETTINGS_MEMORY_H
#define LSMETER_SETTINGS_MEMORY_H

#include "../agent.h"

/* Called before any policy is loaded, if memory is measured. */
void memory_start(void);
int measure_memory(const struct cell_spec *spec, struct cell *c, struct outcome *out);

#endif
