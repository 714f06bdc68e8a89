/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ancillary data of messages for sendmsg and recvmsg, as in the kernel. */
#ifndef LSMETER_CONTROL_H
#define LSMETER_CONTROL_H

#include <linux/uio.h>
#include "sockets.h"

#define SCM_RIGHTS	1
#define SCM_CREDENTIALS	2
#define SCM_SECURITY	3
#define CONTROL_MAX	512

struct message {
	void *name;
	u64 name_len;
	struct iovec *parts;
	u64 part_count;
	void *control;
	u64 control_len;
	u64 flags;
};

#endif
