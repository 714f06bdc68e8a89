// SPDX-License-Identifier: GPL-2.0-or-later

mod builder;
mod built_in;
mod lists;
mod types;
