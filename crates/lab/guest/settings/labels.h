/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rotates SELinux labels of benchmark files, if the experiment has `labels`. */
#ifndef LSMETER_SETTINGS_LABELS_H
#define LSMETER_SETTINGS_LABELS_H

#include "../sys.h"

struct policy;

/* Labels not used since decisions were forgotten, for lsmeter's and custom policies. */
#define FRESH_LABELS		1024
#define FRESH_CATEGORIES	1024

/* The context with its type replaced by the numbered one, from 0. */
size_t label_context(char *dst, size_t size, const char *context, u32 number);
/* A label with this number for benchmark files, or 0: policy/selinux.c. */
size_t fresh_context(char *dst, size_t size, const struct policy *p, u32 number);
/* Lookups and misses of the access vector cache. */
void avc_read(u32 *lookups, u32 *misses);

/* Rotates labels from now on: the context with types label00001_t and so on. */
void labels_start(const struct policy *p, const char *context);
/* Around the call that creates a file. */
void next_label(void);
void no_label(void);

#endif
