// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces guest/undisturbed.c: nobody disturbs the first measurement; in the second every other
 * sample is disturbed; the third is always disturbed, and may wait for ten samples.
 */
#include "agent.h"

u32 undisturbed_ratio = 1000;
u32 pace_ns = 700;

static unsigned int cells, probes, lost;

void undisturbed_start(void)
{
}

void undisturbed_next_cell(void)
{
	cells++;
	lost = 0;
}

int undisturbed_wait(void)
{
	return cells < 3;
}

int undisturbed(void)
{
	return cells == 1 || ++probes % 2;
}

int undisturbed_lost(u64 ns)
{
	return ns && (cells < 3 || ++lost < 10);
}

/* Distinguishes scaled times from raw ones. */
u64 at_pace(u64 ns)
{
	return ns + 1000000000;
}
