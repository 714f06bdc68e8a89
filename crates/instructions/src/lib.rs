// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts guest kernel instructions with a QEMU TCG plugin.
