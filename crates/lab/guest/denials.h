/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that one module denies, or several, and all others allow. Who denies stands in
 * the path: a letter of the name is AppArmor's, TOMOYO's, SELinux's or Smack's, and the
 * directory is Landlock's, which knows no names. All paths have one length.
 */
#ifndef LSMETER_DENIALS_H
#define LSMETER_DENIALS_H

struct cell;
struct policy;

#define DENIALS		"/denials"

/* Why nothing can be measured where nobody asked for it. */
#define DENIALS_WANTED	"no policy denies files for this: denials = true asks for it"

/*
 * What an open of the file for reading gives in this boot: 0 or an error. Unsupported if
 * nothing was asked for, or if a module that is named does not decide here.
 */
int denials_expect(struct cell *c, const char *path, long *expected);

/*
 * A module has come under its policy, or, if NULL, none has yet: those that have must deny
 * what is theirs, and all else must be allowed.
 */
void denials_confined(const struct policy *p);

/* Labels all that is below DENIALS: `denied` for what this module is to deny. */
void denials_label(const struct policy *p, const char *attribute, const char *allowed,
		   const char *denied);

/* The entries of / that Landlock lets read, and the directory of DENIALS that it does. */
void denials_readable(void (*add)(long ruleset, const char *path), long ruleset);

#endif
