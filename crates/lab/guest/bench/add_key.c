// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: add_key of an 8-byte key to the process keyring. Undo: KEYCTL_UNLINK. */
#include <linux/keyctl.h>
#include "slots.h"

SETUP(setup, slots_name(c, ""));

static long op(struct cell *c, unsigned int i)
{
	long key = SYS(add_key, "user", slot_name(c, i), "12345678", 8, KEY_SPEC_PROCESS_KEYRING);

	*slot_fd(c, i) = key;
	return key;
}

SLOT(undo, SYS(keyctl, KEYCTL_UNLINK, *slot_fd(c, i), KEY_SPEC_PROCESS_KEYRING));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret == -ENOSYS || ret == -EPERM || ret == -EDQUOT)
		return unsupported(c, "no keys for this user", ret);
	if (ret < 0)
		return ret;
	if (SYS(keyctl, KEYCTL_READ, ret, slot_data(c), 8) != 8 || memcmp(slot_data(c), "12345678", 8))
		return failed(c, "add_key: wrong result", 0);
	return undo(c, 0);
}

BENCH("add_key", ADMIN, ADMIN, 8, "add_key of an 8-byte key",
      .max_batch = WARM_SLOTS, .variants = VARIANTS({ "user" }),
      .setup = setup, .check = check, .op = op, .undo = undo);
