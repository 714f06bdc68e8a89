/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that one or several modules deny, and that all others allow. The path names the modules: a
 * letter in the name for AppArmor, TOMOYO, SELinux or Smack, and the directory for Landlock, whose
 * rules have no file names. All paths have the same length.
 */
#ifndef LSMETER_DENIALS_H
#define LSMETER_DENIALS_H

struct cell;
struct policy;

#define DENIALS		"/denials"

/* The reason without the setting. */
#define DENIALS_WANTED	"no policy denies files: set denials = true"

/*
 * The result of an open of the file for reading in this boot: 0 or an error. Unsupported without
 * the setting, or if a named module does not decide here.
 */
int denials_expect(struct cell *c, const char *path, long *expected);

/*
 * Called after a module's policy comes into force, or with NULL before any does. Modules whose
 * policies are in force must deny their files, and all other files must be allowed.
 */
void denials_confined(const struct policy *p);

/* Labels everything below DENIALS: `denied` for this module's files. */
void denials_label(const struct policy *p, const char *attribute, const char *allowed,
		   const char *denied);

/* The entries of / that Landlock allows to read, and the allowed directory in DENIALS. */
void denials_readable(void (*add)(long ruleset, const char *path), long ruleset);

#endif
