// SPDX-License-Identifier: GPL-2.0-or-later
//! Estimates and intervals over samples.
