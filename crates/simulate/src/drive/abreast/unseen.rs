//! What the series of motions abreast do not show, and where it may be in a step ([`narrow`]).
//!
//! [`narrow`]: crate::drive::narrow

use super::{Engine, Lane};
use crate::drive::narrow::{self, Samples, places};
use crate::program::field::{Abreast, Arguments};
use dalembert_compile::Scratch;

/// The arguments of what does not show, along the steps of a group.
pub(super) struct Unseen<const W: usize> {
    arguments: Arguments,
    registers: Scratch,
    moving: usize,
    order: usize,
    input: Vec<f64>,
    found: Vec<f64>,
    /// Of each lane, function by function.
    samples: [Vec<Samples>; W],
    /// The parts of the step at which something stands out.
    pub(super) places: [Vec<f64>; W],
}

impl<const W: usize> Unseen<W> {
    pub(super) fn new(parts: &Abreast, order: usize) -> Option<Unseen<W>> {
        let arguments = parts.narrow.clone()?;
        let count = arguments.kinds.len();
        Some(Unseen {
            registers: arguments.scratch(),
            arguments,
            moving: parts.n + parts.size,
            order,
            input: vec![0.0; parts.inputs + parts.parameters],
            found: vec![0.0; count],
            samples: std::array::from_fn(|_| vec![narrow::NONE; count]),
            places: std::array::from_fn(|_| Vec::new()),
        })
    }

    /// Takes the arguments of a lane at the place of a sample.
    pub(super) fn sample(
        &mut self,
        (part, lane): (usize, usize),
        t: f64,
        x: &[Lane<W>],
        held: &[Lane<W>],
    ) {
        let Unseen { arguments, registers, moving, input, found, samples, .. } = self;
        input.iter_mut().zip(held).for_each(|(place, value)| *place = value[lane]);
        input[0] = t;
        input[1..=*moving].iter_mut().zip(x).for_each(|(place, value)| *place = value[lane]);
        arguments.call(registers, input, found);
        samples[lane].iter_mut().zip(&*found).for_each(|(own, found)| own[part] = *found);
    }

    /// Whether anything may stand out of a lane's step, by its arguments at the first places.
    pub(super) fn may_stand_out(&self, lane: usize) -> bool {
        let all = self.arguments.kinds.iter().zip(&self.samples[lane]);
        all.into_iter().any(|(kind, samples)| narrow::may_stand_out(*kind, samples))
    }

    /// Finds the places of a lane's step.
    pub(super) fn find(
        &mut self,
        lane: usize,
        (t, h): (f64, f64),
        engine: &impl Engine<W>,
        held: &[Lane<W>],
    ) {
        let Unseen { arguments, registers, moving, order, input, found, samples, places: all } =
            self;
        all[lane].clear();
        for (at, (&kind, samples)) in arguments.kinds.iter().zip(&samples[lane]).enumerate() {
            for place in places(kind, samples) {
                let three = place.narrow_down(&mut |theta| {
                    input.iter_mut().zip(held).for_each(|(place, value)| *place = value[lane]);
                    input[0] = t + theta * h;
                    for component in 0..*moving {
                        let coefficients = (0..=*order).rev();
                        input[1 + component] = coefficients.fold(0.0, |sum, k| {
                            sum * (theta * h) + engine.coefficient(component, k, lane)
                        });
                    }
                    arguments.call(registers, input, found);
                    found[at]
                });
                all[lane].extend(three.into_iter().flatten());
            }
        }
    }
}
