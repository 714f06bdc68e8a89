/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the agent in the kernel and the rest of the kernel. */
#ifndef _ASM_UM_LSMETER_H
#define _ASM_UM_LSMETER_H

#include <linux/compiler.h>
#include <linux/types.h>

/*
 * While this is set, functions that copy from and to user space get addresses in the kernel, where
 * the agent has its buffers and names, and use plain copies.
 */
extern bool lsmeter_plain_copies;

#endif
