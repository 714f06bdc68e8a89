// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames to and from the host: docs/protocol.md. */
#include <linux/sysinfo.h>
#include <linux/utsname.h>
#include "agent.h"

#define HEADER_LEN	16
#define PROTOCOL	1

static const char magic[4] = "LSMF";
static int channel_in = -1, channel_out = -1;
static u8 frame[HEADER_LEN + FRAME_PAYLOAD_MAX];
static u32 crc_table[256];

static void put_u32(u8 *p, u32 v)
{
	p[0] = v;
	p[1] = v >> 8;
	p[2] = v >> 16;
	p[3] = v >> 24;
}

static void put_u64(u8 *p, u64 v)
{
	put_u32(p, v);
	put_u32(p + 4, v >> 32);
}

static u32 get_u32(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

static u32 crc32(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;

	crc = ~crc;
	while (len--)
		crc = crc_table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
	return ~crc;
}

void protocol_start(int in, int out)
{
	u32 i, k, c;

	for (i = 0; i < 256; i++) {
		c = i;
		for (k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
		crc_table[i] = c;
	}
	channel_in = in;
	channel_out = out;
}

void protocol_forget(void)
{
	channel_out = -1;
}

static void (*relay)(enum frame_type type, const void *frame, size_t len);

void protocol_relay(void (*to)(enum frame_type type, const void *frame, size_t len))
{
	relay = to;
}

static void write_all(const u8 *p, size_t left)
{
	long n;

	while (left) {
		n = sys_write(channel_out, p, left);
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			/* Nobody reads, so nothing can be reported any more. */
			channel_out = -1;
			finish(1);
		}
		p += n;
		left -= n;
	}
}

/* Sends frame[], whose payload of len bytes is in place. */
static void send_prepared(enum frame_type type, size_t len)
{
	if (channel_out < 0)
		return;
	memcpy(frame, magic, 4);
	frame[4] = PROTOCOL;
	frame[5] = type;
	frame[6] = frame[7] = 0;
	put_u32(frame + 8, len);
	put_u32(frame + 12, crc32(crc32(0, frame + 4, 8), frame + HEADER_LEN, len));
	if (relay) {
		relay(type, frame, HEADER_LEN + len);
		return;
	}
	write_all(frame, HEADER_LEN + len);
}

void protocol_pass(const void *data, size_t len)
{
	write_all(data, len);
}

void send_frame(enum frame_type type, const void *payload, size_t len)
{
	if (len > FRAME_PAYLOAD_MAX)
		len = FRAME_PAYLOAD_MAX;
	memcpy(frame + HEADER_LEN, payload, len);
	send_prepared(type, len);
}

void send_text(enum frame_type type, const char *fmt, __builtin_va_list args)
{
	char text[512];

	send_frame(type, text, format_args(text, sizeof(text), fmt, args));
}

void send_log(const char *fmt, ...)
{
	__builtin_va_list args;

	__builtin_va_start(args, fmt);
	send_text(FRAME_LOG, fmt, args);
	__builtin_va_end(args);
}

/* Reads a file as one line: a newline would end the value. */
static const char *read_line(const char *path, char *dst, size_t size)
{
	char *p;

	read_text(path, dst, size);
	for (p = dst; *p; p++)
		if ((u8)*p < ' ')
			*p = ' ';
	while (p > dst && p[-1] == ' ')
		*--p = '\0';
	return dst;
}

void send_hello(void)
{
	static char text[8192], lsm[1024], cmdline[4096];
	struct new_utsname name;
	struct sysinfo info;
	u64 memory = 0;
	size_t len;

	memset(&name, 0, sizeof(name));
	SYS(uname, &name);
	if (SYS(sysinfo, &info) == 0)
		memory = info.totalram * (u64)info.mem_unit / 1024;
	len = format(text, sizeof(text),
		     "protocol=%d\nrelease=%s\nmachine=%s\nlsm=%s\ncmdline=%s\n"
		     "memory_kib=%lu\nclock_ns=%lu\nuid=%u\n",
		     PROTOCOL, name.release, name.machine,
		     read_line("/sys/kernel/security/lsm", lsm, sizeof(lsm)),
		     read_line("/proc/cmdline", cmdline, sizeof(cmdline)),
		     memory, clock_cost_ns, (unsigned int)SYS(getuid));
#ifdef ARCH_WAIT_MS
	len += format(text + len, sizeof(text) - len, "undisturbed=%u\npace_ns=%u\n",
		      undisturbed_ratio, pace_ns);
#endif
	send_frame(FRAME_HELLO, text, len);
}

void send_samples(u32 cell, const struct sample *samples, unsigned int count)
{
	const unsigned int most = (FRAME_PAYLOAD_MAX - 8) / 16;
	u8 *payload = frame + HEADER_LEN;
	unsigned int i, n;

	for (; count; samples += n, count -= n) {
		n = count < most ? count : most;
		put_u32(payload, cell);
		put_u32(payload + 4, n);
		for (i = 0; i < n; i++) {
			put_u64(payload + 8 + 16 * i, samples[i].operations);
			put_u64(payload + 16 + 16 * i, samples[i].ns);
		}
		send_prepared(FRAME_SAMPLES, 8 + 16 * n);
	}
}

void send_cell_end(u32 cell, u8 status, const struct outcome *out, const char *reason)
{
	u32 disturbed = out->disturbed < 0xffff ? out->disturbed : 0xffff;
	u8 *payload = frame + HEADER_LEN;
	size_t len = strlen(reason);

	if (len > REASON_MAX)
		len = REASON_MAX;
	memset(payload, 0, 20);
	put_u32(payload, cell);
	payload[4] = status;
	payload[6] = disturbed;
	payload[7] = disturbed >> 8;
	put_u64(payload + 8, out->operations);
	put_u32(payload + 16, out->batch);
	memcpy(payload + 20, reason, len);
	send_prepared(FRAME_CELL_END, 20 + len);
}

static void read_exactly(void *dst, size_t len)
{
	u8 *p = dst;
	long n;

	while (len) {
		n = sys_read(channel_in, p, len);
		if (n == -EINTR)
			continue;
		or_fatal(n, "reading the experiment");
		if (!n)
			fatal("reading the experiment: input ended in the middle");
		p += n;
		len -= n;
	}
}

enum frame_type read_frame(char payload[FRAME_PAYLOAD_MAX + 1], u32 *len)
{
	u8 header[HEADER_LEN];

	read_exactly(header, sizeof(header));
	if (memcmp(header, magic, 4))
		fatal("input frame: wrong magic");
	if (header[4] != PROTOCOL)
		fatal("input frame: protocol version %u, this agent speaks %u",
		      header[4], PROTOCOL);
	if (header[5] != FRAME_EXPERIMENT && header[5] != FRAME_RUN)
		fatal("input frame: unknown type %u", header[5]);
	if (header[6] || header[7])
		fatal("input frame: reserved field is not zero");
	*len = get_u32(header + 8);
	if (*len > FRAME_PAYLOAD_MAX)
		fatal("input frame: payload of %u bytes, at most %u are allowed",
		      *len, FRAME_PAYLOAD_MAX);
	read_exactly(payload, *len);
	payload[*len] = '\0';
	if (crc32(crc32(0, header + 4, 8), payload, *len) != get_u32(header + 12))
		fatal("input frame: checksum does not match");
	return header[5];
}
