// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents as tables: terminal, Markdown, CSV.
