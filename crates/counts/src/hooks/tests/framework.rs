// SPDX-License-Identifier: GPL-2.0-or-later

use super::{list, symbols};
use crate::hooks::Framework;

#[test]
fn functions_are_found_under_the_names_a_kernel_uses() {
    let hooks = list(&[
        "file_open",
        "bprm_check_security",
        "inode_init_security",
        "tun_dev_free_security",
        "xfrm_decode_session",
        "cred_prepare",
        "settime",
        "key_alloc",
        "xfrm_state_alloc",
        "xfrm_state_free_security",
        "inode_xattr_skipcap",
        "data",
    ]);
    let served = [
        ("security_file_open.constprop.0", Some("file_open")),
        ("security_bprm_check", Some("bprm_check_security")),
        ("security_inode_init_security", Some("inode_init_security")),
        (
            "security_old_inode_init_security",
            Some("inode_init_security"),
        ),
        (
            "security_tun_dev_free_security",
            Some("tun_dev_free_security"),
        ),
        ("security_xfrm_decode_session", Some("xfrm_decode_session")),
        ("security_skb_classify_flow", Some("xfrm_decode_session")),
        ("security_prepare_creds", Some("cred_prepare")),
        ("security_key_alloc", Some("key_alloc")),
        ("security_key_free", Some("key_free")),
        ("security_xfrm_state_alloc", Some("xfrm_state_alloc")),
        ("security_xfrm_state_free", Some("xfrm_state_free_security")),
        ("security_compute_av", None),
        ("security_transfer_creds", None),
        ("=security_data", None),
    ];
    let framework = Framework::new(&hooks, &symbols(&served.map(|(function, _)| function)));
    for (function, hook) in served {
        let function = function.trim_start_matches('=');
        assert_eq!(framework.hook_of(function), hook, "{function}");
    }
    let part = framework.hook_of("security_bprm_check.part.0.cold");
    assert_eq!(part, Some("bprm_check_security"));
    assert_eq!(framework.hook_of(""), None);
}

#[test]
fn the_hook_of_exactly_that_name_has_the_function() {
    let hooks = list(&["file_alloc_security", "file_alloc"]);
    let framework = Framework::new(&hooks, &symbols(&["security_file_alloc"]));
    assert_eq!(framework.hook_of("security_file_alloc"), Some("file_alloc"));
}
