//! Sums of logarithms in 32 bits as `exp` and `ln` of 64 bits give them, without calling these.
//!
//! What sentencepiece rounds to 32 bits is reckoned with an error that is known; where numbers within that error round
//! to two different ones of 32 bits (once in thousands), `exp` and `ln` decide. So every bit is theirs. `ln(1 + exp(d))`
//! is a polynomial of the third degree in each 32nd of `d`, whose next term is below 3.2e-10; `exp` is 2 to a 64th part,
//! from a table, and a polynomial of the third degree for the rest, whose next term is below 4e-11 of it. Leaves out
//! numbers of 64 bits, which are not rounded.

use std::{f64::consts::LN_2, sync::OnceLock};

/// Where sums of logarithms differ by more, the smaller one is nothing.
pub const FAR: f64 = 50.0;
/// The table ends here: `exp` of that is 4e-11.
const DEEP: f64 = 24.0;
/// From here on, 4e-11 more is the same in 32 bits (half a step is 4e-10 and more).
const LARGE: f64 = 1.0 / 64.0;
/// Up to here, 64 bits are exact enough (1e-13).
const HUGE: f64 = 1024.0;
/// Cells of the table for each unit.
const CELLS: f64 = 32.0;
/// More than a cell may be wrong by, and `exp` in its own size.
const WRONG: f64 = 5e-10;
/// Parts of a power of two.
const PARTS: usize = 64;
/// `exp` is not reckoned below.
const LOW: f64 = -600.0;
/// Added and taken away, it rounds to whole numbers.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// A number of 32 bits.
fn single(number: f64) -> f64 {
    f64::from(number as f32)
}

/// The logarithm of a sum, of logarithms in 32 bits.
fn plain(low: f64, high: f64) -> f64 {
    if high > single(low + FAR) {
        return high;
    }
    single(high + (single(low - high).exp() + 1.0).ln())
}

/// The tables.
#[derive(Debug)]
pub struct Sums {
    /// Of `ln(1 + exp(d))`, by the distance of `d` below zero.
    soft: Vec<[f64; 4]>,
    /// Powers of two.
    powers: [f64; PARTS],
}

impl Sums {
    /// Made once.
    pub fn get() -> &'static Sums {
        static SUMS: OnceLock<Sums> = OnceLock::new();
        SUMS.get_or_init(|| {
            let cell = |number: usize| {
                let middle = -(number as f64 + 0.5) / CELLS;
                let part = 1.0 / (1.0 + (-middle).exp());
                let slope = part * (1.0 - part);
                [middle.exp().ln_1p(), part, slope / 2.0, slope * (1.0 - 2.0 * part) / 6.0]
            };
            let soft = (0..=(DEEP * CELLS) as usize).map(cell).collect();
            Sums { soft, powers: std::array::from_fn(|part| (part as f64 / PARTS as f64).exp2()) }
        })
    }

    /// The logarithm of a sum, of logarithms in 32 bits.
    #[inline]
    pub fn add(&self, a: f64, b: f64) -> f64 {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        let apart = single(high - low);
        if apart >= DEEP && high.abs() >= LARGE {
            return high;
        }
        let number = (apart * CELLS) as u32;
        if let Some(cell) = self.soft.get(number as usize) {
            let x = (f64::from(number) + 0.5) / CELLS - apart;
            let sum = high + ((cell[0] + cell[1] * x) + (cell[2] + cell[3] * x) * (x * x));
            let (least, most) = (single(sum - WRONG), single(sum + WRONG));
            if least == most && high.abs() < HUGE {
                return least;
            }
        }
        plain(low, high)
    }

    /// `sum` and `count` times `exp(x)`, in 32 bits; `x` is not above 1.
    #[inline]
    pub fn add_exp(&self, sum: f64, count: f64, x: f64) -> f64 {
        if x > LOW {
            let shifted = x * (PARTS as f64 / LN_2) + SHIFT;
            let whole = shifted - SHIFT;
            let rest = x - whole * (LN_2 / PARTS as f64);
            let number = shifted.to_bits();
            let power = f64::from_bits(
                self.powers[number as usize % PARTS].to_bits().wrapping_add((number / PARTS as u64) << 52),
            );
            let more = count * (power * ((1.0 + rest) + (0.5 + rest * (1.0 / 6.0)) * (rest * rest)));
            let (least, most) = (single(sum + (more - more * WRONG)), single(sum + (more + more * WRONG)));
            if least == most {
                return least;
            }
        }
        single(sum + count * x.exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without end, of 32 bits each.
    fn drawn(state: &mut u64) -> u32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 32) as u32
    }

    #[test]
    fn sums_are_those_of_exp_and_ln() {
        let (sums, mut state) = (Sums::get(), 7);
        for scale in [1e-6, 1e-3, 1.0, 30.0, 100.0, 2000.0, 1e6] {
            for _ in 0..200_000 {
                let mut number = || single((f64::from(drawn(&mut state)) / 4_294_967_296.0 - 0.9) * scale);
                let (a, b) = (number(), number());
                for (a, b) in [(a, b), (a, single(a - single(b / scale * 26.0))), (a, a)] {
                    let (low, high) = if a < b { (a, b) } else { (b, a) };
                    assert_eq!(sums.add(a, b), plain(low, high), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn shares_are_those_of_exp() {
        let (sums, mut state) = (Sums::get(), 11);
        for scale in [1e-7, 1e-3, 1.0, 30.0, 100.0, 800.0] {
            for _ in 0..200_000 {
                let mut number = || f64::from(drawn(&mut state)) / 4_294_967_296.0;
                let x = single((0.01 - number()) * scale).min(1.0);
                let sum = if number() < 0.3 { 0.0 } else { single(number() * 1e4) };
                let count = single((number() * 1e5).ceil());
                assert_eq!(sums.add_exp(sum, count, x), single(sum + count * x.exp()), "{sum} {count} {x}");
            }
        }
    }
}
