/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Custom policies. They may allow a confined process very little: it may neither be allowed to
 * create a benchmark's files nor to send results. So the agent stays unconfined, and a confined
 * child makes each measurement.
 */
#ifndef LSMETER_SETTINGS_GIVEN_H
#define LSMETER_SETTINGS_GIVEN_H

#include "../policy.h"

/* Creates the files for the accesses that check the policies. */
void given_make(const struct policy *all, unsigned int count);
/* Checks the policies, in a child. If there are any, they confine each measurement from now on. */
void given_prove(const struct policy *all, unsigned int count);

/*
 * A measurement in a child under the policies. If the policy does not allow setup(), it runs before
 * the child is confined. Returns the same as run().
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
/* Whether a module logs denials only in an additional run, which comes next. */
int given_log_denials(void);
void given_kill_all(void);
/*
 * In the traced run: notes a task's subject. Afterwards: an error if no task had the policy's
 * subject.
 */
void given_look_at(long pid);
long given_unseen(struct cell *c, long traced);	/* the result of tracing: 0 or -errno */
/* Appends the last denial of the last run, if any. */
void given_add_denial(char *reason, size_t size);
/* Sends the denials that the modules logged, in the measured runs or in the additional one. */
void given_send_denials(u32 cell);

/*
 * given-audit.c: starts the daemon that writes records, if the policy has one and it is not
 * running.
 */
void given_write_records(void);
int given_has_writer(void);

/* given-log.c: the kernel log's records of denials. */
#define GIVEN_LANDLOCK	"blockers="	/* begins one of Landlock's */
void given_log_open(void);
void given_log_skip(void);
/* The next record of a denial, from its mark on, in one line; NULL if none is left. */
const char *given_log_next(void);

/* Called after each confined child. */
void given_release(void);

/* given-reopen.c: called with open files before and after the policy applies. */
void given_remember_files(void);
void given_open_again(void);
/* The same for a program's input and output, or /dev/null if the policy denies that. */
void given_open_standard_files(void);

/* given-accesses.c: accesses that a module's policy must deny, and allow. */
void given_read_accesses(const struct policy *p);
void given_make_files(const struct policy *p);
/* Those that the accesses of any policy of the run name; p is not one of them. */
void given_make_all_files(const struct policy *p);
/* Accesses that no policy may deny, in turn. */
void given_passing_files(const struct policy *p, void (*each)(const char *path));
/* Checks that all accesses pass while nothing is confined. */
void given_try_before(const struct policy *p);
/*
 * The module confines this task. Checks that accesses which it must deny are denied, and that
 * others pass.
 */
void given_try_after(const struct policy *p);

/* Calls a function for each line of a host file for this module. */
void given_lines(const struct policy *p, const char *name,
		 void (*line)(const struct policy *p, char *line));

/* Whether the host has sent this file for the module. */
int given_has(const struct policy *p, const char *name);

/* The first line of a host file for this module, /policy/MODULE/name; fatal() if none. */
const char *given_line(const struct policy *p, const char *name, char *text, size_t size);

#endif
