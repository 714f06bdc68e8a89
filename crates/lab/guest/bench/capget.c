// SPDX-License-Identifier: GPL-2.0-or-later
/* Window: capget of the process itself. Nothing to undo. */
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
	return 0;
}

static long op(struct cell *c, unsigned int i)
{
	return SYS(capget, &of(c)->head, of(c)->data);
}

static int check(struct cell *c)
{
	struct __user_cap_data_struct *data = of(c)->data;
	long ret;

	data->effective = 1;
	data->permitted = 0;
	ret = op(c, 0);
	if (ret < 0)
		return ret;
	/* Who may use what it has not? */
	return data->effective & ~data->permitted ? failed(c, "capget: wrong result", 0) : 0;
}

BENCH("capget", CREDENTIALS, PROCESS, 6, "capget of the process itself",
      .variants = VARIANTS({ "self" }),
      .setup = setup, .check = check, .op = op);
