/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An order between two processes, in shared memory: the sender waits until it is carried out. 0
 * means no order. A policy may forbid everything except memory access.
 */
#ifndef LSMETER_SETTINGS_ORDERS_H
#define LSMETER_SETTINGS_ORDERS_H

#include <linux/futex.h>
#include "../sys.h"

static inline void order_wait(volatile u32 *order, u32 while_it_is, const void *patience)
{
	SYS(futex, order, FUTEX_WAIT, while_it_is, patience, NULL, 0);
}

static inline void order_set(volatile u32 *order, u32 value)
{
	*order = value;
	SYS(futex, order, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static inline void order_give(volatile u32 *order, u32 value)
{
	order_set(order, value);
	while (*order)
		order_wait(order, value, NULL);
}

#endif
