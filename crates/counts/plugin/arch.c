// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch.h"

#include <stdio.h>
#include <string.h>

static const struct arch *const all[] = { &arch_x86_64, &arch_aarch64 };

#define COUNT	(sizeof(all) / sizeof(all[0]))

const struct arch *guest;

bool arch_choose(const char *target)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strcmp(all[i]->target, target))
			guest = all[i];
	return guest;
}

const char *arch_programs(void)
{
	static char text[128];
	size_t used = 0;

	for (size_t i = 0; i < COUNT && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%sqemu-system-%s", i ? " or " : "", all[i]->target);
	return text;
}
