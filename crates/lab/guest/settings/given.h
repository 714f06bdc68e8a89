/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Custom policies. They may allow a confined process very little: neither to create a benchmark's
 * files, nor to send results. So the agent stays unconfined, and a confined child makes each
 * measurement.
 */
#ifndef LSMETER_SETTINGS_GIVEN_H
#define LSMETER_SETTINGS_GIVEN_H

#include "../policy.h"

/* Creates the files for the accesses that prove them. */
void given_make(const struct policy *all, unsigned int count);
/* Proves them, in a child. If there are any, each measurement is confined by them from now on. */
void given_prove(const struct policy *all, unsigned int count);

/*
 * A measurement in a child under the policies. If the policy does not allow setup(), it runs before
 * the child is confined. Same result as run().
 */
struct cell;
struct outcome;
int given_run(const struct cell_spec *spec, struct cell *c, struct outcome *out,
	      int (*setup)(const struct cell_spec *spec),
	      int (*run)(const struct cell_spec *spec, struct outcome *out),
	      int (*again)(void));

/*
 * given-programs.c: whole programs. Their root becomes the topmost of the file tree, so that modules
 * see the paths that policies name; then each program starts under the policies.
 */
void given_choose_policies(const struct policy *all, unsigned int count);
void given_move_root(void);
void given_enter_root(void);
void given_begin_program(void);
void given_start_program(void);
void given_end_program(int measured);
void given_kill_all(void);
/* In the traced run: notes its subject. Then: -EIO if no task had the policy's. */
void given_look_at(long pid);
long given_unseen(struct cell *c, unsigned int tasks);
/* Appends the last denial of the last run, if any. */
void given_add_denial(char *reason, size_t size);
/* Denials in the measured runs, which the modules logged. */
void given_send_denials(u32 cell);

/* given-audit.c: starts the daemon that writes records, if the policy has one and it does not run. */
void given_write_records(void);
int given_has_writer(void);

/* given-log.c: the kernel log's records of denials. */
void given_log_open(void);
void given_log_skip(void);
/* The next record of a denial, from its mark on, in one line; NULL if none is left. */
const char *given_log_next(void);

/* After each confined child. */
void given_release(void);

/* given-reopen.c: called with open files before and after the policy applies. */
void given_remember_files(void);
void given_open_again(void);
/* The same for a program's input and output, or /dev/null if the policy denies that. */
void given_open_standard_files(void);

/* given-accesses.c: accesses that a module's policy must deny, and allow. */
void given_read_accesses(const struct policy *p);
void given_make_files(const struct policy *p);
/* Accesses that no policy may deny, in turn. */
void given_passing_files(const struct policy *p, void (*each)(const char *path));
/* All pass while nothing is confined. */
void given_try_before(const struct policy *p);
/* The module confines this task: accesses that it must deny are denied, others pass. */
void given_try_after(const struct policy *p);

/* The lines of a host file for this module, in turn. */
void given_lines(const struct policy *p, const char *name,
		 void (*line)(const struct policy *p, char *line));

/* Whether the host has sent this file for the module. */
int given_has(const struct policy *p, const char *name);

/* The first line of a host file for this module, /policy/MODULE/name; fatal() if none. */
const char *given_line(const struct policy *p, const char *name, char *text, size_t size);

#endif
