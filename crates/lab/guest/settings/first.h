/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first operation after an event that invalidates the modules' cached decisions: either their
 * policies are loaded again, or the files get a label that was never used.
 */
#ifndef LSMETER_SETTINGS_FIRST_H
#define LSMETER_SETTINGS_FIRST_H

struct cell;
struct policy;

/* Values of the key first_after. */
enum first_after {
	FIRST_AFTER_LOAD = 1,
	FIRST_AFTER_RELABEL,
};

/* Before any policy is loaded. */
void first_prepare(const struct policy *all, unsigned int count);
/* Called once policies are in force: checks that the setting works. */
void first_prove(void);
/*
 * Called at the start of a measurement, and before each operation. No effect without the setting.
 */
int first_begin(struct cell *c);
int first_before(struct cell *c);

#endif
