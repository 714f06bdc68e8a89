/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Markers: no-op instructions in user code whose immediate reports an event to the plugin.
 * lab/guest/bench.h defines the same numbers; lab's build checks that they agree.
 */
#ifndef LSMETER_MARKERS_H
#define LSMETER_MARKERS_H

#define MARKER_MAGIC		0x4c534d00	/* "LSM\0" */
#define MARKER_ARM		1	/* start instrumenting */
#define MARKER_CELL_BEGIN	2	/* the next measurement */
#define MARKER_CELL_END		3
#define MARKER_OP_BEGIN		4	/* around a composite operation */
#define MARKER_OP_END		5
#define MARKER_WINDOW_BEGIN	6
#define MARKER_WINDOW_END	7
#define MARKER_WINDOW_BEGIN_ALL	8	/* children's work counts too */
#define MARKER_DISARM		9	/* stop instrumenting */
#define MARKER_AGENT		10	/* from now on only markers in this page count */
#define MARKER_READY		11	/* the machine is copied here: see serve.h */
#define MARKER_END		12	/* a copy has finished its measurement */

#endif
