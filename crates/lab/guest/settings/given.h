/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies of the user's own. Whom they confine may be allowed very little: not to make
 * the files that a benchmark opens, nor to send what was measured. So the agent stays
 * outside, and each cell is measured by a child of its own that comes under them.
 */
#ifndef LSMETER_SETTINGS_GIVEN_H
#define LSMETER_SETTINGS_GIVEN_H

#include "../policy.h"

/* Makes what the accesses that prove them are tried with. */
void given_make(const struct policy *all, unsigned int count);
/* Proves them, in a child. If there are any, each cell comes under them from now on. */
void given_prove(const struct policy *all, unsigned int count);

/*
 * A cell in a child under the policies. Who may not make what it measures has it made
 * before it comes under them: setup() runs first then. The same result as of run().
 */
struct cell;
struct outcome;
int given_run(const struct cell_spec *spec, struct cell *c, struct outcome *out,
	      int (*setup)(const struct cell_spec *spec),
	      int (*run)(const struct cell_spec *spec, struct outcome *out),
	      int (*again)(void));

/* given-reopen.c: files of the cell that are open, once before and once under the policy. */
void given_remember_files(void);
void given_open_again(void);

/* given-accesses.c: what a module's policy must deny, and allow. */
void given_read_accesses(const struct policy *p);
void given_make_files(const struct policy *p);
/* Those that a policy is not to deny any access to, one after the other. */
void given_passing_files(const struct policy *p, void (*each)(const char *path));
/* All pass while nobody is confined. */
void given_try_before(const struct policy *p);
/* The module confines this task: what it must deny is denied, the others pass. */
void given_try_after(const struct policy *p);

/* The lines of a file of the host's for this module, one after the other. */
void given_lines(const struct policy *p, const char *name,
		 void (*line)(const struct policy *p, char *line));

/* The first line of a file of the host's for this module, /policy/MODULE/name; fatal() if none. */
const char *given_line(const struct policy *p, const char *name, char *text, size_t size);

#endif
