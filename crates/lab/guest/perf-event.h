/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A software event of the task itself, which counts nothing. */
#ifndef LSMETER_PERF_EVENT_H
#define LSMETER_PERF_EVENT_H

#include <linux/perf_event.h>
#include "slots.h"

static inline void describe_event(struct cell *c)
{
	struct perf_event_attr *attr = (struct perf_event_attr *)slot_name(c, 0);

	attr->type = PERF_TYPE_SOFTWARE;
	attr->size = sizeof(*attr);
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

static inline long open_event(struct cell *c)
{
	return SYS(perf_event_open, slot_name(c, 0), 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static inline int no_event(struct cell *c, long err)
{
	if (err == -ENOSYS)
		return unsupported(c, "this kernel has no perf_event_open", err);
	if (err == -EACCES || err == -EPERM)
		return unsupported(c, "only root may use perf events on this machine", err);
	return failed(c, "perf_event_open", err);
}

/* The complete setup() of a benchmark with an open event, as c->fd[0]. */
static inline int set_up_event(struct cell *c)
{
	long fd;

	describe_event(c);
	fd = open_event(c);
	if (fd < 0)
		return no_event(c, fd);
	c->fd[0] = fd;
	return 0;
}

/* Its teardown(). */
static inline void tear_down_event(struct cell *c)
{
	close_as(c, 0);
}

#endif
