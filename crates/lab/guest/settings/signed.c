// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signatures for IMA: the host made one for each possible file size; all files consist of the same
 * letter. The kernel looks for the key in a keyring named _ima, which root can create without
 * CONFIG_INTEGRITY_TRUSTED_KEYRING (security/integrity/digsig.c).
 */
#include "../policy.h"
#include "signed.h"

#define FILES		POLICY_DIR "ima/"
#define ATTRIBUTE	"security.ima"
#define USER_KEYRING	-4l	/* KEY_SPEC_USER_KEYRING */

static const char *table;
static size_t table_len;

static u32 number_at(const char *at)
{
	u32 value;

	memcpy(&value, at, sizeof(value));
	return value;
}

void signed_start(void)
{
	const char *certificate;
	size_t len;
	long ring, key;

	if (SYS(access, FILES "signatures", 0) < 0)
		return;
	certificate = map_whole(FILES "certificate", &len);
	ring = SYS(add_key, "keyring", "_ima", NULL, 0, USER_KEYRING);
	key = ring < 0 ? ring : SYS(add_key, "asymmetric", NULL, certificate, len, ring);
	or_fatal(key, "ima: a key for signatures in the keyring _ima");
	SYS(munmap, certificate, len);
	step("ima: evmctl import certificate.der $(keyctl newring _ima @u)");
	table = map_whole(FILES "signatures", &table_len);
}

int sign_file(const char *path, size_t size)
{
	size_t at, len;

	for (at = 0; at + 8 <= table_len; at += 8 + len) {
		len = number_at(table + at + 4);
		if (len > table_len - at - 8)
			fatal("ima: " FILES "signatures is cut short");
		if (number_at(table + at) == size)
			return SYS(setxattr, path, ATTRIBUTE, table + at + 8, len, 0);
	}
	return 1;
}
