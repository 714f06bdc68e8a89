// SPDX-License-Identifier: GPL-2.0-or-later
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

static int capget_setup(struct cell *c)
{
	of(c)->head.version = _LINUX_CAPABILITY_VERSION_3;
	return 0;
}

OP(capget_op, SYS(capget, &of(c)->head, of(c)->data));

static int capget_check(struct cell *c)
{
	struct __user_cap_data_struct *data = of(c)->data;
	long ret;

	data->effective = 1;
	data->permitted = 0;
	ret = capget_op(c, 0);
	if (ret < 0)
		return ret;
	/* An effective capability must also be permitted. */
	return data->effective & ~data->permitted ? failed(c, "capget: wrong result", 0) : 0;
}

BENCH("capget", CREDENTIALS, PROCESS, 6, "capget of the process",
      .variants = VARIANTS({ "self" }),
      .setup = capget_setup, .check = capget_check, .op = capget_op);

static int capset_setup(struct cell *c)
{
	of(c)->head.version = _LINUX_CAPABILITY_VERSION_3;
	return SYS(capget, &of(c)->head, of(c)->data);
}

OP(capset_op, SYS(capset, &of(c)->head, of(c)->data));

static int capset_check(struct cell *c)
{
	struct capability before = *of(c);
	long ret = capset_op(c, 0);

	if (ret >= 0)
		ret = SYS(capget, &of(c)->head, of(c)->data);
	if (ret < 0)
		return ret;
	return memcmp(&before, of(c), sizeof(before)) ? failed(c, "capset: wrong result", 0) : 0;
}

BENCH("capset", CREDENTIALS, PROCESS, 7, "capset to the current capabilities",
      .variants = VARIANTS({ "same" }),
      .setup = capset_setup, .check = capset_check, .op = capset_op);
