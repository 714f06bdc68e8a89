/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's memory before a program runs. */
#ifndef LSMETER_PROGRAM_SLABS_H
#define LSMETER_PROGRAM_SLABS_H

/* Before there is a policy: some let nobody open or mount anything. */
void slabs_open(void);
/* In a task that is to be measured: its descriptors go. */
void slabs_forget(void);
/*
 * No general cache has a slab with a hole, and each has just begun a new one; those of large objects
 * only before a program's first run.
 */
void slabs_fill(int first);
/* In the task itself, last: single pages are there to be taken. */
void pages_leave(void);

#endif
