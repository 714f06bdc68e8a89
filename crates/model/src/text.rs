// SPDX-License-Identifier: GPL-2.0-or-later
//! Types that result files and specs write as text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::given::Access;
use crate::placement::Count;
use crate::select::Pattern;
use crate::spec::IntegrityList;
use crate::stack::Stack;

macro_rules! as_text {
    ($($name:ty),+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

as_text!(Access, Count, IntegrityList, Pattern, Stack);
