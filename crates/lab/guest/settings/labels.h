/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that benchmarks make have labels of SELinux's in turn, if that is asked for. */
#ifndef LSMETER_SETTINGS_LABELS_H
#define LSMETER_SETTINGS_LABELS_H

#include "../sys.h"

struct policy;

/* Labels that no file has had since decisions were forgotten, of lsmeter's policies and of others. */
#define FRESH_LABELS		1024
#define FRESH_CATEGORIES	1024

/* The context with its type replaced by that of this number, from 0. */
size_t label_context(char *dst, size_t size, const char *context, u32 number);
/* A label of this number for the cell's files: policy/selinux.c. 0 if there is none. */
size_t fresh_context(char *dst, size_t size, const struct policy *p, u32 number);
/* How often the access vector cache was asked, and had no answer. */
void avc_read(u32 *lookups, u32 *misses);

/* From now on: those of a context whose type is replaced by label00001_t and so on. */
void labels_start(const struct policy *p, const char *context);
/* Around the call that makes a file. */
void next_label(void);
void no_label(void);

#endif
