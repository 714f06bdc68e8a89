// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * EVM: an HMAC over a file's security attributes, in security.evm. The kernel keeps it up to date,
 * and checks it before any such attribute is changed. If IMA appraises the file, IMA checks it
 * before the file is opened. The key is an encrypted key named evm-key, as for evmctl(1).
 *
 * Nobody can set an HMAC once the key is loaded, and before that only if writes to such attributes
 * are allowed. So a forged HMAC is made first, on a separate file system.
 */
#include "../policy.h"

#define EVM		"/sys/kernel/security/evm"
#define ATTRIBUTE	"security.evm"
#define HMAC		2	/* EVM_XATTR_HMAC */
#define PROCESS_KEYRING	-2

#define DIRECTORY	"/lsmeter-evm"
#define FORGED		DIRECTORY "/forged"
#define RIGHT		"evm-right"	/* in the working directory, or on the tmpfs */

static const char capability[] = "security.capability";

/* security.capability: CAP_NET_BIND_SERVICE, a version 2 vfs_cap_data. */
static const u32 bind_service[5] = { 0x02000001, 1u << 10, 0, 0, 0 };

static void check(const char *what, long err)
{
	or_fatal(err, "evm: %s", what);
}

/*
 * Once there is a key, only a new file can get its first attribute that the HMAC protects. Files
 * from mknod(2) are new: any file on 6.12 and later (evm_post_path_mknod), on older kernels one
 * that IMA appraises.
 */
static long make_protected(const char *path)
{
	long err = SYS(mknod, path, S_IFREG | 0644, 0);

	if (err < 0)
		return err;
	err = SYS(setxattr, path, capability, bind_service, sizeof(bind_service), 0);
	if (err < 0)
		sys_unlink(path);
	return err;
}

static void forge(void)
{
	u8 forged[21] = { HMAC };	/* and 20 bytes of an SHA-1 digest */

	check("mkdir of " DIRECTORY, sys_mkdir(DIRECTORY, 0755));
	check("mounting tmpfs on " DIRECTORY,
	      SYS(mount, "tmpfs", DIRECTORY, "tmpfs", 0, NULL));
	check("making " FORGED, make_protected(FORGED));
	/* Attributes may be written freely until there is a key. */
	write_line(EVM, "4");
	check("setting " ATTRIBUTE " of " FORGED,
	      SYS(setxattr, FORGED, ATTRIBUTE, forged, sizeof(forged), 0));
	step("evm: wrote 4 to " EVM ", and gave " FORGED " on a tmpfs a "
	     "security.capability and a " ATTRIBUTE " of zeroes");
}

static void load(const struct policy *p)
{
	static const char master[] = "lsmeter's master key, of 32 byte";
	static const char make_key[] = "new user:lsmeter-kmk 64";

	(void)p;
	forge();
	check("adding a user key",
	      SYS(add_key, "user", "lsmeter-kmk", master, sizeof(master) - 1,
		  PROCESS_KEYRING));
	check("adding an encrypted key (CONFIG_ENCRYPTED_KEYS)",
	      SYS(add_key, "encrypted", "evm-key", make_key, sizeof(make_key) - 1,
		  PROCESS_KEYRING));
	step("evm: keyctl add user lsmeter-kmk (32 bytes) @p; "
	     "keyctl add encrypted evm-key \"%s\" @p", make_key);
	write_line(EVM, "1");
	step("evm: wrote 1 to " EVM);
}

static void prove(const struct policy *p)
{
	const char *right = "./" RIGHT;
	char what[96];
	u8 hmac[64];
	long n;

	prove_denied(p, "chmod of " FORGED ", whose HMAC is forged",
		     SYS(chmod, FORGED, 0600), -EPERM);
	n = make_protected(right);
	if (n == -EPERM) {
		/* Any file on a tmpfs. */
		right = DIRECTORY "/" RIGHT;
		n = make_protected(right);
	}
	check("making " RIGHT, n);
	n = SYS(getxattr, right, ATTRIBUTE, hmac, sizeof(hmac));
	check("getxattr of " ATTRIBUTE " of " RIGHT, n);
	if (n != 21 || hmac[0] != HMAC)
		fatal("evm: " ATTRIBUTE " of %s has %ld bytes of type %u, and is no HMAC",
		      right, n, hmac[0]);
	format(what, sizeof(what), "chmod of %s, whose HMAC the kernel made", right);
	prove_allowed(p, what, SYS(chmod, right, 0600));
	check("unlink of " RIGHT, sys_unlink(right));
}

POLICY_MODULE(evm) = {
	.name = "evm",
	.load = load,
	.prove = prove,
};
