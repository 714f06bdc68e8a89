// SPDX-License-Identifier: GPL-2.0-or-later
//! One program, so that it is linked once.

mod calls;
mod columns;
mod comparison;
mod deep;
mod export;
mod figures;
mod hooked;
mod layouts;
mod monitor;
mod pages;
mod placement;
mod placements;
mod profiles;
mod results;
mod sensitivity;
mod swept;
mod tables;
