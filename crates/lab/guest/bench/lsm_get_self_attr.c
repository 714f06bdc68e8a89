// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Window: lsm_get_self_attr of the label under which the process runs, of all modules; where none
 * knows, EOPNOTSUPP is the answer. Nothing to undo.
 */
#include "../self-attr.h"

#define ANSWER	0	/* c->state[]: -EOPNOTSUPP, or 0 */

static long op(struct cell *c, unsigned int i)
{
	long ret = get_self_attr((struct self_attr *)slot_data(c));

	return ret < 0 && ret == c->state[ANSWER] ? 0 : ret;
}

static int check(struct cell *c)
{
	struct self_attr *attr = (struct self_attr *)slot_data(c);
	long ret = op(c, 0);
	u32 size = ATTR_MAX;

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no lsm_get_self_attr", ret);
	if (ret == -EOPNOTSUPP)
		c->state[ANSWER] = ret;
	else if (ret < 0)
		return ret;
	else if (ret < 1 || !attr->id || !attr->text_len || attr->len > ATTR_MAX)
		return failed(c, "lsm_get_self_attr: wrong result", 0);
	/* There is no such attribute. */
	return SYS(lsm_get_self_attr, 0, attr, &size, 0) == -EINVAL ? 0 :
	       failed(c, "lsm_get_self_attr: wrong error", 0);
}

BENCH("lsm_get_self_attr", CREDENTIALS, PROCESS, 25,
      "lsm_get_self_attr of the label of the process",
      .source = "Linux: Documentation/userspace-api/lsm.rst", .variants = VARIANTS({ "current" }),
      .check = check, .op = op);
