//! The way onto a surface in balls of many bits, and the values there; see
//! [`crate::restriction`].

use super::{BallSign, Balls, Enclose, Enclosed, Extended, ExtendedBall, Gap, Magnitude};
use crate::arithmetic::{Formula, Restriction};
use std::sync::Arc;

/// Steps towards the surface before it counts as not found.
const STEPS: usize = 40;
/// Bits that are lost on the way to the surface.
const SPARE: usize = 64;
/// Bits by which the square of the last step may be less than what is left.
const DOUBT: f64 = 24.0;
/// The largest step, in units of the symbols: further away another part of the surface may be next.
const FAR: f64 = 1e3;
/// Points whose way onto a surface is remembered: several tapes are run at one state.
const POINTS: usize = 4;

struct Last {
    way: Arc<Formula>,
    from: Vec<f64>,
    point: Vec<ExtendedBall>,
}

thread_local! {
    static LAST: std::cell::RefCell<Vec<Last>> = const { std::cell::RefCell::new(Vec::new()) };
    /// An arithmetic for each precision: it keeps constants that are long in the making.
    static KINDS: std::cell::RefCell<Vec<(usize, std::rc::Rc<Balls<Extended>>)>> =
        const { std::cell::RefCell::new(Vec::new()) };
}

fn kind(bits: usize) -> std::rc::Rc<Balls<Extended>> {
    KINDS.with_borrow_mut(|kinds| {
        if let Some((_, kind)) = kinds.iter().find(|k| k.0 == bits) {
            return std::rc::Rc::clone(kind);
        }
        let kind = std::rc::Rc::new(Balls(Extended::new(bits)));
        kinds.push((bits, std::rc::Rc::clone(&kind)));
        kind
    })
}

impl Restriction {
    /// The values at doubles.
    pub fn at(&self, arguments: &[f64]) -> Vec<f64> {
        let kind = kind(self.bits + SPARE);
        let given = arguments.iter().map(|x| match x.is_finite() {
            true => Ok(kind.0.double(*x, 0)),
            false => Err(Gap::Undefined),
        });
        let known = LAST.with_borrow(|last| {
            let own = |l: &&Last| Arc::ptr_eq(&l.way, &self.way) && l.from == arguments;
            last.iter().find(own).map(|l| l.point.clone())
        });
        let found = || {
            let mut point = given.collect::<Enclosed<Vec<ExtendedBall>>>()?;
            self.move_onto(&kind, &mut point)?;
            LAST.with_borrow_mut(|last| {
                last.truncate(POINTS - 1);
                let way = Arc::clone(&self.way);
                last.insert(0, Last { way, from: arguments.to_vec(), point: point.clone() });
            });
            Ok(point)
        };
        let values = match known.map_or_else(found, Ok) {
            Ok(point) => self.values_at(&kind, point),
            Err(gap) => vec![Err(gap); self.len()],
        };
        // What may be 0 is 0.
        let rounded = |ball: &ExtendedBall| match kind.0.sign(ball) {
            BallSign::Unclear => 0.0,
            _ => ball.to_f64_scaled(self.shift),
        };
        values.iter().map(|v| v.as_ref().map_or(f64::NAN, rounded)).collect()
    }

    /// The values at the point of the surface next to one.
    pub(crate) fn on_surface(
        &self,
        kind: &Balls<Extended>,
        mut x: Vec<ExtendedBall>,
    ) -> Vec<Enclosed<ExtendedBall>> {
        match self.move_onto(kind, &mut x) {
            Ok(()) => self.scaled(kind, self.values_at(kind, x)),
            Err(gap) => vec![Err(gap); self.len()],
        }
    }

    fn values_at(
        &self,
        kind: &Balls<Extended>,
        x: Vec<ExtendedBall>,
    ) -> Vec<Enclosed<ExtendedBall>> {
        let mut x: Vec<Enclosed<ExtendedBall>> = x.into_iter().map(Ok).collect();
        x.extend(self.constants.run(kind, &[]));
        self.values.run(kind, &x)
    }

    fn move_onto(&self, kind: &Balls<Extended>, x: &mut [ExtendedBall]) -> Enclosed<()> {
        if !self.has_conditions {
            return Ok(());
        }
        let constants = self.constants.run(kind, &[]);
        let near = SPARE as f64 - kind.0.bits() as f64;
        for _ in 0..STEPS {
            let mut at: Vec<Enclosed<ExtendedBall>> =
                x.iter().map(|x| Ok(x.clone().middle())).collect();
            at.extend(constants.iter().cloned());
            let steps = self.way.run(kind, &at);
            let mut most = f64::NEG_INFINITY;
            for ((x, step), unit) in x.iter_mut().zip(steps).zip(&self.units) {
                let step = kind.0.mul(&step?.middle(), &kind.0.double(-unit, 0))?;
                most = most.max(step.bound().log2());
                *x = kind.0.add(x, &kind.0.mul(&step, &kind.0.double(*unit, 0))?)?.middle();
            }
            // What is left is about the square of the last step.
            if 2.0 * most + DOUBT < near {
                for (x, unit) in x.iter_mut().zip(&self.units) {
                    let left = (2.0 * most + DOUBT + unit.log2()).ceil().max(-1e9);
                    *x = x.clone().wider(Magnitude::power_of_two(left as i64));
                }
                return Ok(());
            }
            if most > FAR.log2() {
                return Err(Gap::Undecided);
            }
        }
        Err(Gap::Undecided)
    }
}
