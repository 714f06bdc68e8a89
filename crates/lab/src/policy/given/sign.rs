// SPDX-License-Identifier: GPL-2.0-or-later
//! IMA signatures of the benchmarks' files.

use std::process::Command;

use super::super::{PolicyError, Prepared, Request, tools};

const KEY: &[u8] = include_bytes!("../../../policy/ima/key.pem");
const CERTIFICATE: &[u8] = include_bytes!("../../../policy/ima/certificate.der");

/// The condition in rules that need a signature, not only a hash.
const WANTED: &str = "appraise_type=imasig";

/// The sizes of files that the guest's `make_file()` makes; each byte is an `x`.
const SIZES: [u32; 6] = [0, 1, 7, 4096, 10 * 1024, 100 * 1024];

/// Size of `security.ima` with a signature by a key of up to 4,096 bits.
const SIGNATURE_LIMIT: usize = 1024;

/// Adds the certificate for the guest's kernel, and the signatures. For each file size it writes
/// the size, the signature's length (u32, little-endian), and the signature.
pub(super) fn add(
    request: &Request<'_>,
    rules: &[String],
    prepared: &mut Prepared,
) -> Result<(), PolicyError> {
    let is_wanted = |rule: &String| rule.split_ascii_whitespace().any(wants);
    if !rules.iter().any(is_wanted) {
        return Ok(());
    }
    let keys = "asymmetric keys for signatures";
    tools::need(request, keys, "CONFIG_INTEGRITY_ASYMMETRIC_KEYS")?;
    if tools::option(request, "CONFIG_INTEGRITY_TRUSTED_KEYRING").is_some_and(|is| is == "y") {
        return Err(PolicyError::Unsupported(
            "this kernel's .ima keyring accepts only keys signed by the kernel's own keys \
             (CONFIG_INTEGRITY_TRUSTED_KEYRING)"
                .to_owned(),
        ));
    }
    let evmctl = tools::find("evmctl", "ima-evm-utils")?;
    let version = tools::run(Command::new(&evmctl).arg("--version"))?;
    let inputs = [version.as_bytes(), KEY];
    let table = tools::cached(request.cache, "ima-signatures", &inputs, &mut |made| {
        let key = made.with_file_name("key.pem");
        tools::write(&key, KEY)?;
        let mut table = Vec::new();
        for size in SIZES {
            let file = made.with_file_name("signed");
            tools::write(&file, &vec![b'x'; size as usize])?;
            let mut command = tools::bounded(&evmctl);
            command.args(["ima_sign", "-a", "sha256", "--sigfile", "-k"]);
            tools::run(command.arg(&key).arg(&file))?;
            let signature = tools::read(&file.with_extension("sig"))?;
            let length = u32::try_from(signature.len()).ok();
            let Some(length) = length.filter(|_| signature.len() <= SIGNATURE_LIMIT) else {
                return Err(tools::failed(
                    format!(
                        "the signature from evmctl is too long: {} bytes",
                        signature.len()
                    ),
                    "reinstall the package ima-evm-utils",
                ));
            };
            table.extend(size.to_le_bytes());
            table.extend(length.to_le_bytes());
            table.extend(signature);
        }
        tools::write(made, &table)
    })?;
    prepared.file("certificate", CERTIFICATE);
    prepared.file("signatures", table);
    prepared.steps.push(format!(
        "ima: evmctl ima_sign -a sha256 --sigfile -k key.pem, of files with {} bytes ({})",
        SIZES.map(|size| size.to_string()).join(", "),
        version.trim()
    ));
    Ok(())
}

fn wants(condition: &str) -> bool {
    condition
        .strip_prefix(WANTED)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('|'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_about_files_want_their_signatures() {
        assert!(wants("appraise_type=imasig") && wants("appraise_type=imasig|modsig"));
        assert!(!wants("appraise_type=sigv3") && !wants("appraise_type=imasigned"));
    }
}
