//! The loops of runs: each reads neighbors, or one number, and writes neighbors.

use super::runs::{From, Run};
use crate::calls;
use crate::lanes::Lanes;
use crate::tape::Instruction;
use crate::values::Values;
use dalembert_machine::Wide;

/// Runs over registers.
pub(super) struct Sweep<'a> {
    pub(super) runs: &'a [Run],
    /// The places of those that do not step.
    pub(super) places: &'a [[u32; 3]],
    pub(super) registers: &'a mut [f64],
}

impl Wide for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for run in self.runs {
            // Whatever a run reads is before it.
            let (before, own) = self.registers.split_at_mut(run.into);
            match run.from {
                From::Steps(steps) => step(run, before, steps, own),
                From::List(at) => {
                    pick(run, before, &self.places[at..at + run.length], own);
                }
            }
        }
    }
}

/// A run whose operands are neighbors, or stay.
#[inline(always)]
fn step(run: &Run, before: &[f64], steps: [(usize, bool); 3], own: &mut [f64]) {
    let n = run.length;
    let [(a, moves_a), (b, moves_b), (c, moves_c)] = steps;
    let many = |at: usize| &before[at..at + n];
    let one = |at: usize| before[at];
    macro_rules! unary {
        (|$x:ident| $value:expr) => {
            own.iter_mut().zip(many(a)).for_each(
                #[inline(always)]
                |(y, &$x)| *y = $value,
            )
        };
    }
    macro_rules! binary {
        (|$x:ident, $z:ident| $value:expr) => {
            match (moves_a, moves_b) {
                (true, true) => {
                    let both = many(a).iter().zip(many(b));
                    for (y, (&$x, &$z)) in own.iter_mut().zip(both) {
                        *y = $value;
                    }
                }
                (true, false) => {
                    let $z = one(b);
                    for (y, &$x) in own.iter_mut().zip(many(a)) {
                        *y = $value;
                    }
                }
                (false, _) => {
                    let $x = one(a);
                    for (y, &$z) in own.iter_mut().zip(many(b)) {
                        *y = $value;
                    }
                }
            }
        };
    }
    match run.like {
        Instruction::Add(..) => binary!(|x, z| x + z),
        Instruction::Sub(..) => binary!(|x, z| x - z),
        Instruction::Mul(..) => binary!(|x, z| x * z),
        Instruction::Div(..) => binary!(|x, z| x / z),
        Instruction::Neg(_) => unary!(|x| -x),
        Instruction::Sqrt(_) => unary!(|x| x.sqrt()),
        Instruction::Fma(..) => match (moves_a, moves_b, moves_c) {
            (true, true, true) => {
                let all = many(a).iter().zip(many(b)).zip(many(c));
                for (y, ((x, z), w)) in own.iter_mut().zip(all) {
                    *y = x.mul_add(*z, *w);
                }
            }
            (true, true, false) => {
                let w = one(c);
                for (y, (x, z)) in own.iter_mut().zip(many(a).iter().zip(many(b))) {
                    *y = x.mul_add(*z, w);
                }
            }
            (_, _, true) if moves_a || moves_b => {
                let (still, moving) = if moves_a { (one(b), many(a)) } else { (one(a), many(b)) };
                for (y, (x, w)) in own.iter_mut().zip(moving.iter().zip(many(c))) {
                    *y = x.mul_add(still, *w);
                }
            }
            (_, _, true) => {
                let (x, z) = (one(a), one(b));
                for (y, w) in own.iter_mut().zip(many(c)) {
                    *y = x.mul_add(z, *w);
                }
            }
            (_, _, false) => {
                let (still, moving) = if moves_a { (one(b), many(a)) } else { (one(a), many(b)) };
                let w = one(c);
                for (y, x) in own.iter_mut().zip(moving) {
                    *y = x.mul_add(still, w);
                }
            }
        },
        _ => {
            let place = |at: usize, moves: bool, i: usize| before[at + i * usize::from(moves)];
            let at = |i: usize| [place(a, moves_a, i), place(b, moves_b, i), place(c, moves_c, i)];
            each(run, own, at);
        }
    }
}

/// A run whose operands are anywhere.
#[inline(always)]
fn pick(run: &Run, before: &[f64], places: &[[u32; 3]], own: &mut [f64]) {
    macro_rules! all {
        (|$x:ident| $value:expr) => {
            for (y, &[a, ..]) in own.iter_mut().zip(places) {
                let $x = before[a as usize];
                *y = $value;
            }
        };
        (|$x:ident, $z:ident| $value:expr) => {
            for (y, &[a, b, _]) in own.iter_mut().zip(places) {
                let ($x, $z) = (before[a as usize], before[b as usize]);
                *y = $value;
            }
        };
        (|$x:ident, $z:ident, $w:ident| $value:expr) => {
            for (y, &[a, b, c]) in own.iter_mut().zip(places) {
                let ($x, $z) = (before[a as usize], before[b as usize]);
                let $w = before[c as usize];
                *y = $value;
            }
        };
    }
    match run.like {
        Instruction::Add(..) => all!(|x, z| x + z),
        Instruction::Sub(..) => all!(|x, z| x - z),
        Instruction::Mul(..) => all!(|x, z| x * z),
        Instruction::Div(..) => all!(|x, z| x / z),
        Instruction::Neg(_) => all!(|x| -x),
        Instruction::Sqrt(_) => all!(|x| x.sqrt()),
        Instruction::Fma(..) => all!(|x, z, w| x.mul_add(z, w)),
        _ => each(run, own, |i| places[i].map(|place| before[place as usize])),
    }
}

/// Functions that are calls, one after the other.
#[inline(always)]
fn each(run: &Run, own: &mut [f64], at: impl Fn(usize) -> [f64; 3]) {
    let (own, rest) = own.split_at_mut(run.length);
    let all = own.iter_mut().enumerate();
    match run.like {
        Instruction::Pow(..) => all.for_each(|(i, y)| *y = f64::powf(at(i)[0], at(i)[1])),
        Instruction::Call1(function, _) => {
            let f = calls::one(function);
            all.for_each(|(i, y)| *y = f(at(i)[0]));
        }
        Instruction::Call2(function, ..) => {
            let f = calls::two(function);
            all.for_each(|(i, y)| *y = f(at(i)[0], at(i)[1]));
        }
        Instruction::Select(..) => all.for_each(|(i, y)| {
            let [c, a, b] = at(i).map(|x| [x]);
            *y = Lanes::<1>.select(&c, &a, &b)[0];
        }),
        Instruction::SinCos(_) => {
            for ((i, sin), cos) in all.zip(rest) {
                (*sin, *cos) = at(i)[0].sin_cos();
            }
        }
        _ => own.fill(f64::NAN),
    }
}
