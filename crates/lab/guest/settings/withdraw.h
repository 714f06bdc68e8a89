/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Policies that are taken back once they have decided. */
#ifndef LSMETER_SETTINGS_WITHDRAW_H
#define LSMETER_SETTINGS_WITHDRAW_H

#include "../policy.h"

/* What only can be asked for before a module has its policy. */
void withdraw_before_load(const struct policy *all, unsigned int count);
/* Starts who will take them back: the agent itself is to be under them. */
void withdraw_before_confine(const struct policy *all, unsigned int count);
/* Takes them back, and proves that what was denied is allowed. */
void withdraw(const struct policy *all, unsigned int count);

/* policy/selinux.c: the label that the agent may not read. */
const char *selinux_denied_label(void);

#endif
