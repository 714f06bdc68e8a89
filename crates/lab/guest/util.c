// SPDX-License-Identifier: GPL-2.0-or-later
/* A minimal C library for the agent. */
#include <linux/mman.h>
#include <linux/time.h>
#include "agent.h"

void *memset(void *dst, int byte, size_t len)
{
	char *d = dst;

	while (len--)
		*d++ = byte;
	return dst;
}

void *memcpy(void *dst, const void *src, size_t len)
{
	const char *s = src;
	char *d = dst;

	while (len--)
		*d++ = *s++;
	return dst;
}

void *memmove(void *dst, const void *src, size_t len)
{
	const char *s = src;
	char *d = dst;

	if (d <= s)
		return memcpy(dst, src, len);
	while (len--)
		d[len] = s[len];
	return dst;
}

int memcmp(const void *a, const void *b, size_t len)
{
	const u8 *x = a, *y = b;

	for (; len; len--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t len)
{
	for (; len; len--, a++, b++)
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	return 0;
}

static void put(struct format_sink *out, char ch)
{
	if (out->len + 1 < out->size)
		out->dst[out->len++] = ch;
}

static void put_number(struct format_sink *out, u64 value, unsigned int base,
		       unsigned int width, char pad)
{
	char digits[24];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	for (; width > n; width--)
		put(out, pad);
	while (n)
		put(out, digits[--n]);
}

static void put_signed(struct format_sink *out, s64 value, unsigned int width,
		       char pad)
{
	u64 magnitude = value;

	if (value < 0) {
		put(out, '-');
		magnitude = -magnitude;
		if (width)
			width--;
	}
	put_number(out, magnitude, 10, width, pad);
}

size_t format_args(char *dst, size_t size, const char *fmt, __builtin_va_list args)
{
	struct format_sink out = { dst, size, 0 };

	if (!size)
		return 0;
	for (; *fmt; fmt++) {
		unsigned int width = 0, is_long = 0;
		const char *s;
		char pad = ' ';

		if (*fmt != '%') {
			put(&out, *fmt);
			continue;
		}
		fmt++;
		if (*fmt == '0')
			pad = *fmt++;
		while (*fmt >= '0' && *fmt <= '9' && width < 64)
			width = width * 10 + (*fmt++ - '0');
		if (*fmt == 'l') {
			is_long = 1;
			fmt++;
		}
		switch (*fmt) {
		case 's':
			for (s = __builtin_va_arg(args, const char *); s && *s; s++)
				put(&out, *s);
			break;
		case 'c':
			put(&out, __builtin_va_arg(args, int));
			break;
		case 'd':
			put_signed(&out, is_long ? __builtin_va_arg(args, long)
						 : __builtin_va_arg(args, int),
				   width, pad);
			break;
		case 'u':
		case 'x':
			put_number(&out, is_long ? __builtin_va_arg(args, unsigned long)
						 : __builtin_va_arg(args, unsigned int),
				   *fmt == 'u' ? 10 : 16, width, pad);
			break;
		case '%':
			put(&out, '%');
			break;
		default:	/* an unknown conversion ends the text */
			goto end;
		}
	}
end:
	dst[out.len] = '\0';
	return out.len;
}

size_t format(char *dst, size_t size, const char *fmt, ...)
{
	__builtin_va_list args;
	size_t len;

	__builtin_va_start(args, fmt);
	len = format_args(dst, size, fmt, args);
	__builtin_va_end(args);
	return len;
}

long read_text(const char *path, char *dst, size_t size)
{
	size_t len = 0;
	long n, fd;

	dst[0] = '\0';
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	while (len + 1 < size) {
		n = sys_read(fd, dst + len, size - 1 - len);
		if (n == -EINTR)
			continue;
		if (n < 0) {
			sys_close(fd);
			dst[0] = '\0';
			return n;
		}
		if (!n)
			break;
		len += n;
	}
	sys_close(fd);
	dst[len] = '\0';
	return len;
}

int parse_u32(const char *text, u32 max, u32 *value)
{
	u64 n = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		n = n * 10 + (*text - '0');
		if (n > max)
			return -EINVAL;
	}
	*value = n;
	return 0;
}

void *map_shared(size_t size)
{
	long at = SYS(mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		fatal("mmap of %lu bytes: %s (%ld)", size, errno_name(at), -at);
	return (void *)at;
}

void pause_ms(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	SYS(nanosleep, &time, NULL);
}

const char *find_text(const char *text, const char *part)
{
	size_t len = strlen(part);

	for (; strncmp(text, part, len); text++)
		if (!*text)
			return NULL;
	return text;
}
