// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions of the kernel's LSM framework that are not called `security_<hook>`.

/// Hooks whose calling function is neither `security_<hook>` nor the same without `_security`. The
/// list was made from the callers of each hook's static call or list in Linux 5.10, 6.1, 6.12 and
/// 7.2. A hook can have several; some exist in addition to the usual one.
pub const IRREGULAR_FUNCTIONS: [(&str, &str); 14] = [
    ("cred_prepare", "security_prepare_creds"),
    ("cred_transfer", "security_transfer_creds"),
    // Frees the inode's blob after a grace period, outside every system call.
    ("inode_free_security_rcu", "inode_free_by_rcu"),
    // Until 6.5, for reiserfs and ocfs2.
    ("inode_init_security", "security_old_inode_init_security"),
    ("sb_add_mnt_opt", "security_add_mnt_opt"),
    ("sb_free_mnt_opts", "security_free_mnt_opts"),
    ("settime", "security_settime64"),
    ("sk_getsecid", "security_sk_classify_flow"),
    ("socket_sock_rcv_skb", "security_sock_rcv_skb"),
    ("userns_create", "security_create_user_ns"),
    ("vm_enough_memory", "security_vm_enough_memory_mm"),
    ("xfrm_decode_session", "security_skb_classify_flow"),
    // Until 4.20.
    ("capable", "security_capable_noaudit"),
    // Until 5.0.
    ("sb_parse_opts_str", "security_sb_parse_opts_str"),
];
