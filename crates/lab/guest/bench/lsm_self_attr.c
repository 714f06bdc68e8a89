// SPDX-License-Identifier: GPL-2.0-or-later
#include "../self-attr.h"

#define ANSWER	0	/* c->state[]: -EOPNOTSUPP, or 0 */

/*
 * Measured: lsm_get_self_attr of the process's label from all modules; EOPNOTSUPP if no module has
 * one. Nothing to undo.
 */
static long lsm_get_self_attr_op(struct cell *c, unsigned int i)
{
	long ret = get_self_attr((struct self_attr *)slot_data(c));

	return ret < 0 && ret == c->state[ANSWER] ? 0 : ret;
}

static int lsm_get_self_attr_check(struct cell *c)
{
	struct self_attr *attr = (struct self_attr *)slot_data(c);
	long ret = lsm_get_self_attr_op(c, 0);
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
      .check = lsm_get_self_attr_check, .op = lsm_get_self_attr_op);

static struct self_attr *own(struct cell *c)
{
	return (struct self_attr *)slot_data(c);
}

static void set_text(struct self_attr *attr, const char *command, const char *label)
{
	/* The final NUL is part of the label, because Smack requires it. */
	attr->text_len = format(attr->text, ATTR_MAX - sizeof(*attr), "%s%s", command, label) + 1;
	attr->len = sizeof(*attr) + attr->text_len;
	attr->flags = 0;
}

static int setup(struct cell *c)
{
	struct self_attr *attr = own(c), *got = (struct self_attr *)c->path;
	long ret = get_self_attr(got);
	unsigned int at;

	if (ret == -ENOSYS)
		return unsupported(c, "this kernel has no lsm_set_self_attr", ret);
	if (ret == -EOPNOTSUPP) {
		c->state[ANSWER] = ret;
		set_text(attr, "", "none");
		return 0;
	}
	if (ret < 0)
		return failed(c, "lsm_get_self_attr", ret);
	if (got->text_len >= ATTR_MAX / 2)
		return failed(c, "lsm_get_self_attr: a label that is too long", 0);
	got->text[got->text_len] = '\0';
	/* AppArmor appends " (enforce)". */
	for (at = 0; at < got->text_len; at++)
		if (got->text[at] == '\n' || got->text[at] == ' ')
			got->text[at] = '\0';
	attr->id = got->id;
	set_text(attr, got->id == ID_APPARMOR ? "changeprofile " : "", got->text);
	return 0;
}

/*
 * Measured: lsm_set_self_attr of the process's current label in the first module that has one;
 * EOPNOTSUPP if none has. Nothing to undo.
 */
static long lsm_set_self_attr_op(struct cell *c, unsigned int i)
{
	long ret = SYS(lsm_set_self_attr, ATTR_CURRENT, own(c), own(c)->len, 0);

	return ret < 0 && ret == c->state[ANSWER] ? 0 : ret;
}

static int lsm_set_self_attr_check(struct cell *c)
{
	struct self_attr *before = (struct self_attr *)c->path;
	struct self_attr *after = (struct self_attr *)c->path2;
	long ret = lsm_set_self_attr_op(c, 0);

	if (ret == -EPERM || ret == -EACCES)
		return unsupported(c, "this process may not set its label", ret);
	if (ret < 0)
		return ret;
	ret = get_self_attr(after);
	if (c->state[ANSWER] ? ret != c->state[ANSWER] : ret < 1 || after->id != before->id ||
	    strncmp(after->text, before->text, strlen(before->text)))
		return failed(c, "lsm_set_self_attr: another label", 0);
	/* Shorter than the mandatory header. */
	return SYS(lsm_set_self_attr, ATTR_CURRENT, own(c), 8, 0) == -EINVAL ? 0 :
	       failed(c, "lsm_set_self_attr: wrong error", 0);
}

BENCH("lsm_set_self_attr", CREDENTIALS, PROCESS, 26,
      "lsm_set_self_attr of the process's current label",
      .source = "Linux: Documentation/userspace-api/lsm.rst", .variants = VARIANTS({ "same" }),
      .setup = setup, .check = lsm_set_self_attr_check, .op = lsm_set_self_attr_op);
