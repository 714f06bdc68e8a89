// SPDX-License-Identifier: GPL-2.0-or-later
//! Parses the delays of a sweep: `0..110us/10us`, `0,5us,20us`.

use std::str::FromStr;

use lab::sweep::DELAY_MAX_NS;

pub const DELAYS_MAX: usize = 256;
/// With fewer delays, it cannot be seen whether the cost is linear.
pub const DELAYS_MIN: usize = 4;

/// In ns, in rising order, at least [`DELAYS_MIN`] different ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delays {
    ns: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DelaysError {
    /// Neither a list nor a range.
    #[error("invalid delay `{0}`: expected for example 500, 500ns or 10us")]
    NotADelay(String),
    /// `FROM..TO` without `/STEP`.
    #[error("the range `{0}` has no step")]
    NoStep(String),
    #[error("the range `{0}` is empty: its step is 0, or it ends before it begins")]
    NoRange(String),
    /// Hooks are called under spinlocks and with preemption off, several times in a call.
    #[error(
        "with a delay of {ns} ns at each hook, the machine would seem to hang: \
         a system call calls hooks many times, some under spinlocks; at most \
         {DELAY_MAX_NS} ns are allowed"
    )]
    TooLong { ns: u64 },
    #[error("{0} different delays cannot show whether cost is linear; give at least {DELAYS_MIN}")]
    TooFew(usize),
    #[error("too many delays: at most {DELAYS_MAX} are allowed")]
    TooMany,
}

impl DelaysError {
    pub fn hint(&self) -> &'static str {
        match self {
            DelaysError::TooLong { .. } => {
                "the paper's delays, 0..110us/10us, are long enough for slopes"
            }
            _ => "write a range as 0..110us/10us, or a list as 0,5us,20us,50us",
        }
    }
}

impl Delays {
    pub fn ns(&self) -> &[u32] {
        &self.ns
    }

    pub fn max_ns(&self) -> u32 {
        self.ns.last().copied().unwrap_or(0)
    }

    /// In proportion; the longest becomes `max_ns`.
    pub fn scaled_to(&self, max_ns: u32) -> Delays {
        let (from, to) = (u64::from(self.max_ns()).max(1), u64::from(max_ns));
        let scaled = self.ns.iter().map(|&ns| u64::from(ns) * to / from);
        Delays {
            ns: scaled.map(|ns| ns as u32).collect(),
        }
    }
}

/// `10us` in ns; a number alone takes `unit`, or is in ns.
fn delay(text: &str, unit: Option<&str>) -> Result<u64, DelaysError> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let own = text[digits.len()..].trim();
    let wrong = || DelaysError::NotADelay(text.chars().take(40).collect());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let own = Some(own).filter(|own| !own.is_empty());
    let factor = match own.or(unit).unwrap_or("ns") {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        _ => return Err(wrong()),
    };
    let ns = number.checked_mul(factor).ok_or_else(wrong)?;
    if ns > u64::from(DELAY_MAX_NS) {
        return Err(DelaysError::TooLong { ns });
    }
    Ok(ns)
}

fn unit_of(text: &str) -> Option<&str> {
    let unit = text.trim().trim_start_matches(|c: char| c.is_ascii_digit());
    (!unit.trim().is_empty()).then(|| unit.trim())
}

fn range(text: &str, from: &str, rest: &str) -> Result<Vec<u64>, DelaysError> {
    let shown = || text.chars().take(40).collect::<String>();
    let (to, step) = rest
        .split_once('/')
        .ok_or_else(|| DelaysError::NoStep(shown()))?;
    // Units may be missing on one side: 0..110/10us, 0..110us/10.
    let unit = unit_of(to).or_else(|| unit_of(step));
    let (from, to, step) = (delay(from, unit)?, delay(to, unit)?, delay(step, unit)?);
    if step == 0 || to < from {
        return Err(DelaysError::NoRange(shown()));
    }
    if (to - from) / step >= DELAYS_MAX as u64 {
        return Err(DelaysError::TooMany);
    }
    Ok((from..=to).step_by(step as usize).collect())
}

impl FromStr for Delays {
    type Err = DelaysError;

    fn from_str(text: &str) -> Result<Delays, DelaysError> {
        let mut ns = match text.split_once("..") {
            Some((from, rest)) => range(text, from, rest)?,
            None => text
                .split(',')
                .take(DELAYS_MAX + 1)
                .map(|part| delay(part, None))
                .collect::<Result<_, _>>()?,
        };
        ns.sort_unstable();
        ns.dedup();
        if ns.len() > DELAYS_MAX {
            return Err(DelaysError::TooMany);
        }
        if ns.len() < DELAYS_MIN {
            return Err(DelaysError::TooFew(ns.len()));
        }
        Ok(Delays {
            ns: ns.into_iter().map(|ns| ns as u32).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(text: &str) -> Vec<u32> {
        text.parse::<Delays>().unwrap().ns().to_vec()
    }

    #[test]
    fn ranges_and_lists_are_read() {
        let papers: Vec<u32> = (0..=11).map(|step| step * 10_000).collect();
        assert_eq!(ns("0..110us/10us"), papers);
        assert_eq!(ns("0..110/10us"), papers);
        assert_eq!(ns("0..300/100"), [0, 100, 200, 300]);
        assert_eq!(ns("1us, 0,20us,500"), [0, 500, 1_000, 20_000]);
        assert_eq!(ns("0..900us/100us").last(), Some(&900_000));
    }

    #[test]
    fn what_cannot_be_swept_is_refused_with_the_reason() {
        let refuse = |text: &str| text.parse::<Delays>().unwrap_err();
        assert!(refuse("0..2ms/1us").to_string().contains("seem to hang"));
        assert_eq!(refuse("0,1,2"), DelaysError::TooFew(3));
        assert_eq!(refuse("0..100us/1ns"), DelaysError::TooMany);
        assert!(matches!(refuse("0..100us/0"), DelaysError::NoRange(_)));
        assert!(matches!(refuse("5..1us/1us").to_string().as_str(), text if !text.is_empty()));
        assert!(matches!(refuse("0..100us"), DelaysError::NoStep(_)));
        for text in [
            "",
            "ten",
            "-5us,1,2,3",
            "5 weeks,1,2,3",
            "18446744073709551615ms,1,2",
        ] {
            assert!(matches!(refuse(text), DelaysError::NotADelay(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9a-z.,/µ ]{0,40}") {
            if let Ok(delays) = text.parse::<Delays>() {
                prop_assert!(delays.ns().is_sorted());
                prop_assert!(delays.max_ns() <= DELAY_MAX_NS);
                prop_assert!((DELAYS_MIN..=DELAYS_MAX).contains(&delays.ns().len()));
            }
        }
    }
}
