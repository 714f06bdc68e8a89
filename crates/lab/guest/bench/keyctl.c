// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: a keyctl command on a key of the process. Nothing to undo. */
#include <linux/keyctl.h>
#include "slots.h"

#define KEY	0	/* c->state[] */

static int setup(struct cell *c)
{
	long key = SYS(add_key, "user", PADDED_NAME, "12345678", 8, KEY_SPEC_PROCESS_KEYRING);

	if (key == -ENOSYS || key == -EPERM || key == -EDQUOT)
		return unsupported(c, "no keys for this user", key);
	if (key < 0)
		return failed(c, "add_key", key);
	c->state[KEY] = key;
	return 0;
}

OP(op, SYS(keyctl, c->variant->arg, c->state[KEY], slot_data(c), DATA_SIZE, 0));

static int check(struct cell *c)
{
	long ret = op(c, 0);

	if (ret < 0)
		return ret;
	if (c->variant->arg == KEYCTL_READ && (ret != 8 || memcmp(slot_data(c), "12345678", 8)))
		return failed(c, "keyctl: wrong value", 0);
	return SYS(keyctl, c->variant->arg, 0x7ffffffe, slot_data(c), DATA_SIZE, 0) == -ENOKEY ? 0 :
	       failed(c, "keyctl: wrong result", 0);
}

static void teardown(struct cell *c)
{
	SYS(keyctl, KEYCTL_UNLINK, c->state[KEY], KEY_SPEC_PROCESS_KEYRING);
}

BENCH("keyctl", ADMIN, ADMIN, 9, "a keyctl command on a key",
      .variants = VARIANTS({ "KEYCTL_READ", .arg = KEYCTL_READ },
			   { "KEYCTL_DESCRIBE", .arg = KEYCTL_DESCRIBE },
			   { "KEYCTL_GET_SECURITY", .arg = KEYCTL_GET_SECURITY }),
      .setup = setup, .check = check, .op = op, .teardown = teardown);
