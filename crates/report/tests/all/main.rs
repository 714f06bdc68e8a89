// SPDX-License-Identifier: GPL-2.0-or-later
//! One program, so that it is linked once.

mod additivity;
mod architectures;
mod avc;
mod beside;
mod beside_layouts;
mod calls;
mod columns;
mod comparison;
mod deep;
mod denials;
mod export;
mod figures;
mod layouts;
mod monitor;
mod pages;
mod placement;
mod placements;
mod priced;
mod profiles;
mod programs;
mod publication;
mod published;
mod sensitivity;
mod setup;
mod swept;
mod tables;
