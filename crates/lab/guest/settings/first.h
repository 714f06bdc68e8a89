/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first operation after something that makes what modules had decided before worth nothing:
 * their policies are loaded anew, or the cell's files get a label that nobody has used before.
 */
#ifndef LSMETER_SETTINGS_FIRST_H
#define LSMETER_SETTINGS_FIRST_H

struct cell;
struct policy;

/* The values of the key first_after. */
enum first_after {
	FIRST_AFTER_LOAD = 1,
	FIRST_AFTER_RELABEL,
};

/* Before any policy is loaded. */
void first_prepare(const struct policy *all, unsigned int count);
/* Once they are in force: shows that it does what it says. */
void first_prove(void);
/* A cell begins, and each of its operations. Without the key neither does anything. */
int first_begin(struct cell *c);
int first_before(struct cell *c);

#endif
