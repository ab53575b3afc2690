//! The series of a group of motions: of one, or of several side by side, with the same bits.

use super::each;
use crate::program::field::Abreast;
use dalembert_compile::series::{Fours, Jets, Series, SeriesCode, Wide, WideJets};
use std::sync::Arc;

/// Series of as many motions as there are lanes.
pub(super) trait Engine<const W: usize> {
    /// Takes the values of all variables, and those of instructions where they are known.
    fn begin(&mut self, x: &[[f64; W]], values: Option<&[[f64; W]]>);
    /// An output at order 0.
    fn output(&self, at: usize) -> [f64; W];
    /// Sets a coefficient of a variable.
    fn set(&mut self, variable: usize, order: usize, value: [f64; W]);
    /// Sets a column of the inverse.
    fn set_inverse(&mut self, equation: usize, column: &[[f64; W]]);
    /// Finds all coefficients.
    fn run(&mut self);
    /// The sizes of the coefficients of an order, of positions and velocities.
    fn sizes(&self, order: usize, into: &mut [[f64; W]]);
    /// A coefficient of a position or a velocity of one motion.
    fn coefficient(&self, component: usize, order: usize, lane: usize) -> f64;
    /// Positions and velocities at h, and their rates.
    fn evaluate(&mut self, h: [f64; W], x: &mut [[f64; W]], rates: &mut [[f64; W]]);
}

/// One motion.
pub(super) struct One {
    series: Arc<Series>,
    code: Arc<Option<SeriesCode>>,
    jets: Jets,
    order: usize,
    velocities: usize,
    polynomials: Fours,
}

impl One {
    pub(super) fn new(parts: &Abreast, code: &Arc<Option<SeriesCode>>, order: usize) -> One {
        let mut jets = parts.series.jets(order + 1);
        parts.series.prepare(&mut jets, &[]);
        let mut polynomials = Fours::default();
        polynomials.shape(order + 1, &[parts.n, parts.size]);
        One {
            series: parts.series.clone(),
            code: code.clone(),
            jets,
            order,
            velocities: parts.series_places.velocities,
            polynomials,
        }
    }
}

impl Engine<1> for One {
    fn begin(&mut self, x: &[[f64; 1]], values: Option<&[[f64; 1]]>) {
        let (series, jets, x) = (&self.series, &mut self.jets, x.as_flattened());
        match (values, &*self.code) {
            (Some(values), _) => series.begin_with(jets, x, values.as_flattened()),
            (None, Some(code)) => code.begin(series, jets, x),
            (None, None) => series.begin(jets, x),
        }
    }

    #[inline]
    fn output(&self, at: usize) -> [f64; 1] {
        [self.series.output(&self.jets, at, 0)]
    }

    #[inline]
    fn set(&mut self, variable: usize, order: usize, [value]: [f64; 1]) {
        self.series.set(&mut self.jets, variable, order, value);
    }

    #[inline]
    fn set_inverse(&mut self, equation: usize, column: &[[f64; 1]]) {
        self.series.set_inverse(&mut self.jets, equation, column.as_flattened());
    }

    fn run(&mut self) {
        let is_run = self.code.as_ref().as_ref().is_some_and(|code| code.run_all(&mut self.jets));
        if !is_run {
            self.series.start(&mut self.jets);
            (1..self.order).for_each(|k| self.series.stage(&mut self.jets, k));
        }
        self.polynomials.take(0, &self.series, &self.jets, 1);
        self.polynomials.take(1, &self.series, &self.jets, self.velocities);
    }

    fn sizes(&self, order: usize, into: &mut [[f64; 1]]) {
        self.polynomials.sizes(order, into.as_flattened_mut());
    }

    #[inline]
    fn coefficient(&self, component: usize, order: usize, _: usize) -> f64 {
        self.polynomials.at(component, order)
    }

    fn evaluate(&mut self, [h]: [f64; 1], x: &mut [[f64; 1]], rates: &mut [[f64; 1]]) {
        let (x, rates) = (x.as_flattened_mut(), rates.as_flattened_mut());
        self.polynomials.evaluate_with_rates(h, x, rates);
    }
}

/// Several motions.
pub(super) struct Many<const W: usize> {
    wide: Arc<Wide<W>>,
    jets: WideJets<W>,
    n: usize,
    size: usize,
    velocities: usize,
    order: usize,
}

impl<const W: usize> Many<W> {
    pub(super) fn new(parts: &Abreast, wide: &Arc<Wide<W>>, order: usize) -> Many<W> {
        Many {
            wide: wide.clone(),
            jets: wide.jets(&[]),
            n: parts.n,
            size: parts.size,
            velocities: parts.series_places.velocities,
            order,
        }
    }

    /// The coefficients of a position or a velocity: every fourth.
    #[inline(always)]
    fn own(&self, at: usize) -> &[[f64; W]] {
        let variable = if at < self.n { 1 + at } else { self.velocities + at - self.n };
        self.jets.variable(variable).unwrap_or(&[])
    }
}

impl<const W: usize> Engine<W> for Many<W> {
    fn begin(&mut self, x: &[[f64; W]], values: Option<&[[f64; W]]>) {
        match values {
            Some(values) => self.wide.begin_with(&mut self.jets, x, values),
            None => self.wide.begin(&mut self.jets, x),
        }
    }

    #[inline]
    fn output(&self, at: usize) -> [f64; W] {
        self.wide.output(&self.jets, at)
    }

    #[inline]
    fn set(&mut self, variable: usize, order: usize, value: [f64; W]) {
        self.jets.set(variable, order, value);
    }

    #[inline]
    fn set_inverse(&mut self, equation: usize, column: &[[f64; W]]) {
        self.wide.set_inverse(&mut self.jets, equation, column);
    }

    fn run(&mut self) {
        self.wide.run(&mut self.jets);
    }

    #[inline(always)]
    fn sizes(&self, order: usize, into: &mut [[f64; W]]) {
        for (at, place) in into.iter_mut().enumerate().take(self.n + self.size) {
            let own = self.own(at).get(4 * order).copied().unwrap_or([0.0; W]);
            *place = each(|lane| own[lane].abs());
        }
    }

    #[inline]
    fn coefficient(&self, component: usize, order: usize, lane: usize) -> f64 {
        self.own(component).get(4 * order).map_or(0.0, |c| c[lane])
    }

    #[inline(always)]
    fn evaluate(&mut self, h: [f64; W], x: &mut [[f64; W]], rates: &mut [[f64; W]]) {
        for at in 0..self.n + self.size {
            let own = self.own(at);
            if own.is_empty() {
                (x[at], rates[at]) = ([0.0; W], [0.0; W]);
                continue;
            }
            let (mut value, mut rate) = ([0f64; W], [0f64; W]);
            for order in (0..=self.order).rev() {
                let c = &own[4 * order];
                value = each(|lane| value[lane].mul_add(h[lane], c[lane]));
                if order > 0 {
                    let m = order as f64;
                    rate = each(|lane| rate[lane].mul_add(h[lane], m * c[lane]));
                }
            }
            (x[at], rates[at]) = (value, rate);
        }
    }
}
