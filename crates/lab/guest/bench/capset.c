// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: capset to the capabilities that the process has. Nothing to undo. */
#include <linux/capability.h>
#include "slots.h"

struct capability {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static struct capability *of(struct cell *c)
{
	return (struct capability *)slot_data(c);
}

static int setup(struct cell *c)
{
	of(c)->head.version = _LINUX_CAPABILITY_VERSION_3;
	return SYS(capget, &of(c)->head, of(c)->data);
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(capset, &of(c)->head, of(c)->data);
}

static int check(struct cell *c)
{
	struct capability before = *of(c);
	long ret = op(c, 0);

	if (ret >= 0)
		ret = SYS(capget, &of(c)->head, of(c)->data);
	if (ret < 0)
		return ret;
	return memcmp(&before, of(c), sizeof(before)) ? failed(c, "capset: wrong result", 0) : 0;
}

BENCH("capset", CREDENTIALS, PROCESS, 7, "capset to the capabilities that the process has",
      .variants = VARIANTS({ "same" }),
      .setup = setup, .check = check, .op = op);
