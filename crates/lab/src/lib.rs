// SPDX-License-Identifier: GPL-2.0-or-later
//! A cell becomes samples: kernels, initramfs, QEMU and the agent's protocol.
