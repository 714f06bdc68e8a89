/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of a ready machine. At MARKER_READY, QEMU forks itself once per request from the host. The
 * copy makes the requested measurement and exits.
 *
 * Requests arrive on standard input, a socket: struct request, then the directives. The answer is
 * the copy's PID, or -errno. Its files are in the directory of serve=DIRECTORY: NUMBER.agent,
 * NUMBER.console, NUMBER.records.
 */
#ifndef LSMETER_SERVE_H
#define LSMETER_SERVE_H

#include "records.h"

struct request {
	uint32_t number;
	uint32_t length;	/* of the directives, in bytes */
};

/* Directives are written into pages of the agent's memory that begin with this (guest/ready.c). */
#define READY_MAGIC		0x796461655279614cULL
#define READY_PAGES		64u
#define READY_PAGE_BYTES	4096u

struct ready_page {
	uint64_t magic;
	uint32_t number;	/* from 0 */
	uint32_t zero;
	char text[READY_PAGE_BYTES - 16];
};

/* Returns 0 or -errno. header: for each copy's records. */
int serve_enable(const char *directory, const struct records_header *header);
/* Returns in each copy; without serve_enable(), at once. in_memory: an address in guest memory. */
void serve(const void *in_memory);
/* Ends a copy after its measurement. */
void serve_end(void);

#endif
