/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that benchmarks make have labels of SELinux's in turn, if that is asked for. */
#ifndef LSMETER_SETTINGS_LABELS_H
#define LSMETER_SETTINGS_LABELS_H

struct policy;

/* From now on: those of a context whose type is replaced by label00001_t and so on. */
void labels_start(const struct policy *p, const char *context);
/* Around the call that makes a file. */
void next_label(void);
void no_label(void);

#endif
