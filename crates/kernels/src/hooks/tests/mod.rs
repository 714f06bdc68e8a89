// SPDX-License-Identifier: GPL-2.0-or-later

mod builder;
mod built_in;
mod implementations;
mod lists;
mod types;
