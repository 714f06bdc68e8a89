// SPDX-License-Identifier: GPL-2.0-or-later
#include "records.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * A hostile guest can execute markers for ever. Beyond this size, records are dropped, and the
 * reader finds a measurement without an end.
 */
#define RECORDS_MAX_BYTES	(1ULL << 30)

static int records_fd = -1;
static uint64_t written;
static struct record buffer[4096];
static unsigned int used;

static int write_all(const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(records_fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int records_open(const char *path, const struct records_header *header)
{
	if (records_fd >= 0)
		close(records_fd);
	used = 0;
	written = 0;
	records_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (records_fd < 0)
		return -errno;
	return write_all(header, sizeof(*header));
}

void records_flush(void)
{
	size_t size = used * sizeof(buffer[0]);

	used = 0;
	if (records_fd < 0 || !size)
		return;
	written += size;
	if (written > RECORDS_MAX_BYTES || write_all(buffer, size)) {
		close(records_fd);
		records_fd = -1;
	}
}

void records_put(const struct record *record)
{
	buffer[used++] = *record;
	if (used == sizeof(buffer) / sizeof(buffer[0]))
		records_flush();
}
