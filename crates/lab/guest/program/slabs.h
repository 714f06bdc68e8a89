/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of kernel memory before a program runs. */
#ifndef LSMETER_PROGRAM_SLABS_H
#define LSMETER_PROGRAM_SLABS_H

/* Called before any policy is loaded, because some forbid opening or mounting anything. */
void slabs_open(void);
/*
 * Fills the holes in the slabs of all general caches, and starts a new slab in each. Caches of
 * large objects are filled only before a program's first run.
 */
void slabs_fill(int first);
/* Called last, in the task itself: makes single pages available. */
void pages_leave(void);

#endif
