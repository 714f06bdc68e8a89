/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of kernel memory before a program runs. */
#ifndef LSMETER_PROGRAM_SLABS_H
#define LSMETER_PROGRAM_SLABS_H

/* Before any policy: some forbid opening or mounting anything. */
void slabs_open(void);
/* In a task that will be measured: closes its descriptors. */
void slabs_forget(void);
/*
 * Leaves no general cache with a hole in a slab, and starts a new slab in each; for caches of large
 * objects only before a program's first run.
 */
void slabs_fill(int first);
/* Last, in the task itself: makes single pages available. */
void pages_leave(void);

#endif
