// SPDX-License-Identifier: GPL-2.0-or-later
/* Measured: settimeofday of the kernel's current time zone. Nothing to undo. */
#include <linux/time.h>
#include "slots.h"

static struct timezone *zone(struct cell *c)
{
	return (struct timezone *)slot_data(c);
}

SETUP(setup, SYS(gettimeofday, NULL, zone(c)));

OP(op, SYS(settimeofday, NULL, zone(c)));

static int check(struct cell *c)
{
	struct timezone wrong = { .tz_minuteswest = 100000 };
	long ret = op(c, 0);

	if (ret == -EPERM)
		return unsupported(c, "it needs CAP_SYS_TIME", ret);
	if (ret < 0)
		return ret;
	return SYS(settimeofday, NULL, &wrong) == -EINVAL ? 0 :
	       failed(c, "settimeofday: wrong result", 0);
}

BENCH("settimeofday", ADMIN, ADMIN, 14, "settimeofday of the current time zone",
      .variants = VARIANTS({ "time-zone" }),
      .setup = setup, .check = check, .op = op);
