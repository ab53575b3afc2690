//! One step across a position in which the rank drops; see [`crate::drive::singular::cross`].

use crate::drive::Driver;
use crate::drive::singular::change::RankChange;
use crate::drive::singular::collocation::{Passage, RULE};
use crate::drive::tolerances::constraints::HELD;
use crate::drive::tolerances::singular::{LOST, NOISE};
use crate::integrators::Problem;
use std::sync::Arc;

/// Most sweeps over the nodes.
const SWEEPS: usize = 80;

/// A step's end with what was in use there.
#[derive(Clone)]
pub(in crate::drive) struct Mark {
    pub(in crate::drive) t: f64,
    pub(in crate::drive) x: Vec<f64>,
    pub(in crate::drive) margin: f64,
    /// The rates there, and how fast that is, where it was asked.
    pub(in crate::drive) rates: Vec<f64>,
    pub(in crate::drive) speed: Option<f64>,
    pub(in crate::drive) set: Arc<RowSet>,
}

/// Rows in use: of A, and of φ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::drive) struct RowSet {
    pub(in crate::drive) rows: Vec<usize>,
    pub(in crate::drive) positions: Option<Vec<usize>>,
}

/// A step across.
pub(in crate::drive) struct Crossing {
    pub(in crate::drive) passage: Passage,
    pub(in crate::drive) end: Vec<f64>,
    pub(in crate::drive) sets: Vec<RowSet>,
    /// Where the rank drops, as a fraction.
    pub(in crate::drive) at: f64,
    pub(in crate::drive) change: Option<RankChange>,
    /// Rows that are independent there, too.
    pub(in crate::drive) kept: Option<RowSet>,
}

impl Driver {
    pub(in crate::drive) fn row_set(&self) -> RowSet {
        RowSet {
            rows: self.field.rows().to_vec(),
            positions: self.projection.positions().map(<[usize]>::to_vec),
        }
    }

    /// The same as it was last time, if it is.
    pub(in crate::drive) fn same_set(&mut self) -> Arc<RowSet> {
        let last = &self.crossings.set;
        let positions = self.projection.positions();
        if last.rows != self.field.rows() || last.positions.as_deref() != positions {
            self.crossings.set = Arc::new(self.row_set());
        }
        self.crossings.set.clone()
    }

    pub(in crate::drive) fn use_set(&mut self, set: &RowSet) {
        self.field.use_rows(&set.rows);
        self.projection.use_positions(set.positions.clone());
    }

    /// The first guess of the next node: on with the polynomial through the rates known.
    fn guess(&self, known: &[(f64, Vec<f64>)], from: (f64, &[f64]), to: f64, h: f64) -> Vec<f64> {
        let recent = &known[known.len().saturating_sub(6)..];
        let points: Vec<f64> = recent.iter().map(|k| k.0).collect();
        let weights = RULE.through(&points, from.0, to);
        let mut x = from.1.to_vec();
        for (weight, (_, rates)) in weights.iter().zip(recent) {
            x.iter_mut().zip(rates).for_each(|(x, f)| *x += h * weight * f);
        }
        x
    }

    /// A step of collocation from a mark. `None` if it does not converge.
    /// From a regular mark its rates are known; from another only the velocities are.
    pub(in crate::drive) fn collocate(
        &mut self,
        mark: &Mark,
        h: f64,
        is_regular: bool,
    ) -> Option<Crossing> {
        let nodes = RULE.nodes.clone();
        let size = mark.x.len();
        self.use_set(&mark.set);
        let mut rates = vec![0.0; size];
        self.field.rates(mark.t, &mark.x, &mut rates).ok()?;
        if !is_regular {
            rates[self.field.n..].fill(0.0);
        }
        let mut known = vec![(0.0, rates)];
        let mut last = (0.0, mark.x.clone());
        let mut sets = Vec::new();
        for &node in &nodes {
            let guess = self.guess(&known, (last.0, &last.1), node, h);
            let (x, rates) = self.visit(mark.t + node * h, guess, None)?;
            sets.push(self.row_set());
            known.push((node, rates));
            if !is_regular && known[0].0 == 0.0 {
                known.remove(0);
            }
            last = (node, x);
        }
        let from = known.len() - nodes.len();
        let mut f: Vec<Vec<f64>> = known.into_iter().skip(from).map(|k| k.1).collect();
        let mut weights = vec![0.0; size];
        self.weigh_together(&mut weights, &moved(&f, h));
        let mut best = f64::INFINITY;
        let mut stalled = 0;
        let mut ended = Vec::new();
        for sweep in 0..SWEEPS {
            let mut change = 0f64;
            for i in 0..nodes.len() {
                let mut x = mark.x.clone();
                for (a, f) in RULE.stages[i].iter().zip(&f) {
                    x.iter_mut().zip(f).for_each(|(x, f)| *x += h * a * f);
                }
                let set = sets[i].clone();
                let (_, rates) = self.visit(mark.t + nodes[i] * h, x, Some(&set))?;
                for (at, weight) in weights.iter().enumerate() {
                    change = change.max((h * (rates[at] - f[i][at]) * weight).abs());
                }
                f[i] = rates;
            }
            if change <= 1e-3 {
                break;
            }
            stalled = if change < 0.9 * best { 0 } else { stalled + 1 };
            best = best.min(change);
            if stalled < 3 {
                continue;
            }
            // What does not shrink any more is noise near t*, if the end is free of it.
            let coefficients = RULE.coefficients(&f);
            let passage = Passage { t: mark.t, h, start: mark.x.clone(), coefficients };
            let (end, _) = self.visit(mark.t + h, passage.state(1.0), None)?;
            let parts = end.iter().zip(&ended).zip(&weights);
            let moved = parts.map(|((a, b), w)| (a - b).abs() * w * self.control.tolerance);
            if !ended.is_empty()
                && moved.fold(0.0, f64::max) <= self.control.tolerance.max(0.1 * NOISE)
            {
                break;
            }
            ended = end;
            if stalled >= 9 || sweep + 1 == SWEEPS {
                return None;
            }
        }
        let coefficients = RULE.coefficients(&f);
        let passage = Passage { t: mark.t, h, start: mark.x.clone(), coefficients };
        let end = passage.state(1.0);
        let (end, _) = self.visit(mark.t + h, end, None)?;
        Some(Crossing { passage, end, sets, at: 0.5, change: None, kept: None })
    }

    /// The state projected and its rates. Without a set of rows, one is chosen there, and
    /// in use afterwards.
    fn visit(
        &mut self,
        t: f64,
        mut x: Vec<f64>,
        set: Option<&RowSet>,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        if let Some(set) = set {
            self.use_set(set);
        }
        let violation = self.hold(t, &mut x).ok()?;
        if !(violation.position.max(violation.velocity) <= HELD) {
            return None;
        }
        if set.is_none() && !self.settles(t, &x) {
            return None;
        }
        if self.field.guards() > 0 {
            let (mut modes, mut guards) = (Vec::new(), Vec::new());
            self.field.branches(t, &x, &mut modes, &mut guards).ok()?;
            // Not smooth across a turn.
            if modes.iter().zip(&self.modes).any(|(a, b)| a != b && *a != 0.0) {
                return None;
            }
        }
        let mut rates = vec![0.0; x.len()];
        self.field.rates(t, &x, &mut rates).ok()?;
        Some((x, rates))
    }

    /// Chooses rows at a state; whether the rank is the one expected.
    fn settles(&mut self, t: f64, x: &[f64]) -> bool {
        let Some((rank, _)) = self.expected else { return false };
        let now = std::mem::replace(&mut self.t, t);
        let ranks = self.ranks;
        let settled = self.settle(x).is_ok();
        self.t = now;
        self.ranks = ranks;
        settled && self.field.outcome().rank.jacobian == rank
    }

    /// Where the margin is lowest on the way, and how low.
    pub(in crate::drive) fn lowest(
        &mut self,
        passage: &Passage,
        sets: &[RowSet],
    ) -> Option<(f64, f64)> {
        const PARTS: usize = 24;
        let nodes = RULE.nodes.clone();
        let at = |this: &mut Self, theta: f64| {
            this.use_set(&sets[nearest(&nodes, theta)]);
            let (t, x) = (passage.t + theta * passage.h, passage.state(theta));
            this.crossings.margins.margin(&mut this.field, t, &x)
        };
        let mut best: Option<(usize, f64)> = None;
        for part in 1..=PARTS {
            let theta = part as f64 / PARTS as f64;
            if let Some(margin) = at(self, theta)
                && best.is_none_or(|b| margin < b.1)
            {
                best = Some((part, margin));
            }
        }
        let (part, margin) = best?;
        let width = 1.0 / PARTS as f64;
        let (mut low, mut high) = ((part as f64 - 1.0) * width, (part as f64 + 1.0) * width);
        if part == PARTS {
            return Some((1.0, margin));
        }
        // Golden section.
        const GOLD: f64 = 0.618_033_988_749_894_8;
        let mut left = high - GOLD * (high - low);
        let mut right = low + GOLD * (high - low);
        let (mut of_left, mut of_right) = (at(self, left)?, at(self, right)?);
        for _ in 0..40 {
            if of_left < of_right {
                (high, right, of_right) = (right, left, of_left);
                left = high - GOLD * (high - low);
                of_left = at(self, left)?;
            } else {
                (low, left, of_left) = (left, right, of_right);
                right = low + GOLD * (high - low);
                of_right = at(self, right)?;
            }
            if high - low < 1e-9 {
                break;
            }
        }
        let theta = 0.5 * (low + high);
        Some((theta, of_left.min(of_right).min(margin)))
    }

    /// The change of rank at a fraction of a passage, and the rows that keep it there.
    pub(in crate::drive) fn change(
        &mut self,
        passage: &Passage,
        sets: &[RowSet],
        at: f64,
    ) -> (RankChange, RowSet) {
        let before = self.expected.map_or(0, |e| e.0);
        let t = passage.t + at * passage.h;
        let x = passage.state(at);
        let set = &sets[nearest(&RULE.nodes, at)];
        self.use_set(set);
        let split = self.crossings.margins.split(&mut self.field, t, &x, LOST);
        let (kept, dependent) = split.unwrap_or((set.rows.clone(), Vec::new()));
        let equations = &self.field.equations;
        let name = |&row: &usize| equations.rows[row];
        let names: Vec<usize> = kept.iter().map(name).collect();
        let residuals = equations.configuration_residuals.iter().enumerate();
        let positions = residuals.filter(|(_, r)| names.contains(&r.0)).map(|(i, _)| i).collect();
        let change = RankChange {
            t,
            before,
            at: kept.len(),
            after: Some(before),
            constraints: dependent.iter().map(name).collect(),
            stopped: None,
        };
        (change, RowSet { rows: kept, positions: Some(positions) })
    }

    /// The last coefficients in units of the tolerance, which is what the polynomial leaves
    /// out, and whether they have stopped to fall.
    pub(in crate::drive) fn tail(&self, passage: &Passage) -> (f64, bool) {
        let mut weights = vec![0.0; passage.start.len()];
        self.weigh_together(&mut weights, &moved(&passage.coefficients, passage.h));
        let count = passage.coefficients.len();
        let size = passage.start.len();
        let part = |row: &Vec<f64>| {
            let square =
                |(f, weight): (&f64, &f64)| (passage.h * f * weight / (4.0 * count as f64)).powi(2);
            (row.iter().zip(&weights).map(square).sum::<f64>() / size as f64).sqrt()
        };
        let largest = |rows: &[Vec<f64>]| rows.iter().map(part).fold(0.0, f64::max);
        let last = largest(&passage.coefficients[count - 2..]);
        let before = largest(&passage.coefficients[count - 6..count - 4]);
        (last, last > 0.05 * before)
    }

    /// What is left of the constraints at a fraction of a passage, relative to the terms at
    /// another, its beginning or its end: at t* rows may have none.
    pub(in crate::drive) fn violation_on(
        &mut self,
        passage: &Passage,
        theta: f64,
        beside: f64,
    ) -> f64 {
        let at = |theta: f64| (passage.t + theta * passage.h, passage.state(theta));
        let ((t, x), (beside_t, beside)) = (at(theta), at(beside));
        let violation =
            self.projection.violation_beside(&mut self.field, (t, &x), (beside_t, &beside));
        violation.map_or(f64::INFINITY, |violation| violation.position.max(violation.velocity))
    }

    /// The largest of these between the nodes.
    pub(in crate::drive) fn between(&mut self, passage: &Passage, beside: f64) -> f64 {
        let nodes = RULE.nodes.clone();
        let middles = nodes.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
        middles.fold(0.0, |worst, theta| self.violation_on(passage, theta, beside).max(worst))
    }
}

/// By how much rates move each component in a step, at most.
fn moved(rates: &[Vec<f64>], h: f64) -> Vec<f64> {
    let most = |i: usize| rates.iter().fold(0f64, |m, f| m.max((h * f[i]).abs()));
    (0..rates.first().map_or(0, Vec::len)).map(most).collect()
}

/// The node nearest to a fraction.
pub(in crate::drive) fn nearest(nodes: &[f64], theta: f64) -> usize {
    let distance = |c: &f64| (c - theta).abs();
    let order = |a: &(usize, &f64), b: &(usize, &f64)| distance(a.1).total_cmp(&distance(b.1));
    nodes.iter().enumerate().min_by(order).map_or(0, |n| n.0)
}
