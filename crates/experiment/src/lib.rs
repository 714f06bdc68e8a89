// SPDX-License-Identifier: GPL-2.0-or-later
//! The words of an experiment as types: what to run, and what was measured.
