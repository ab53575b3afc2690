//! The certificate of a run: the largest residuals of its constraints, of its energy and of
//! Gauss's principle, each with the most it may be.

use crate::drive::RankChange;
use dalembert_gauss::certificate::Gauss;

/// The largest numbers seen on a run.
#[derive(Clone, Debug, Default)]
pub struct Certificate {
    /// |φ| relative to each row's scale.
    pub position_residual: f64,
    /// |ψ| relative to each row's scale.
    pub velocity_residual: f64,
    /// |E − E₀ − W| relative to what the motion exchanges, of the part where it is largest;
    /// `None` where W is not followed.
    pub energy_balance: Option<f64>,
    /// Integrals of the motion, by name, with their drift.
    pub invariants: Vec<(String, f64)>,
    /// The Gauss residual.
    pub gauss: f64,
    /// The largest depth of a gap and pull of a load, if there are contacts, and excess of a friction
    /// over its bound, if there are frictions, each relative to the largest of its kind.
    pub touch: [Option<f64>; 3],
    /// Smallest and largest rank of A.
    pub ranks: (usize, usize),
    /// Changes of the rank on the way, in order.
    pub rank_changes: Vec<RankChange>,
    /// The largest condition of A M⁻¹B, of constraints that inputs hold, in natural units.
    pub servo_condition: Option<f64>,
    /// About how often the state has changed by its own size.
    pub characteristic_times: f64,
    /// What the energy may be off by, for methods that hold it at constant steps. One
    /// that keeps it: what rounding explains. A symplectic one: 1.5 times what the
    /// first half of the run shows, so that it may swing but not grow.
    pub energy_bound: Option<f64>,
}

/// One of the certificate's numbers, and the most it may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What.
    pub name: String,
    /// The largest seen.
    pub value: f64,
    /// What is allowed.
    pub bound: f64,
}

impl Line {
    /// Whether it is within its bound; what is not a number is not.
    pub fn holds(&self) -> bool {
        self.value <= self.bound
    }
}

impl Certificate {
    /// Its numbers with their bounds.
    pub fn lines(&self, tolerance: f64) -> Vec<Line> {
        let line = |name: &str, value, bound| Line { name: name.to_owned(), value, bound };
        let residual = tolerance.max(1e-12);
        let bound = 100.0 * tolerance * (1.0 + self.characteristic_times);
        let mut lines = vec![
            line("position residual", self.position_residual, residual),
            line("velocity residual", self.velocity_residual, residual),
        ];
        let energy = self.energy_bound.unwrap_or(bound);
        lines.extend(self.energy_balance.map(|balance| line("energy balance", balance, energy)));
        let invariants = self.invariants.iter();
        lines.extend(invariants.map(|(name, value)| {
            let bound = if name == "energy" { energy } else { bound };
            line(&format!("{name} drift"), *value, bound)
        }));
        // What is borne is told by where the run is, however it came there.
        let borne = 100.0 * tolerance;
        let touch =
            [("penetration", residual), ("load below 0", borne), ("friction over bound", borne)];
        let told = touch.iter().zip(self.touch);
        lines.extend(told.filter_map(|(&(name, bound), value)| Some(line(name, value?, bound))));
        lines.push(line("Gauss residual", self.gauss, 1e-10));
        lines
    }

    /// `pass`, or what failed.
    pub fn verdict(&self, tolerance: f64) -> Result<(), Vec<String>> {
        let mut failed: Vec<String> = self
            .lines(tolerance)
            .iter()
            .filter(|line| !line.holds())
            .map(|l| format!("{} {:.1e} is above {:.1e}", l.name, l.value, l.bound))
            .collect();
        let passed = |change: &RankChange| change.stopped.is_none();
        let is_passed = !self.rank_changes.is_empty() && self.rank_changes.iter().all(passed);
        if self.ranks.0 != self.ranks.1 && self.ranks.0 != usize::MAX && !is_passed {
            failed.push(format!("the rank changed from {} to {}", self.ranks.1, self.ranks.0));
        }
        if failed.is_empty() { Ok(()) } else { Err(failed) }
    }
}

/// The Gauss residual of a whole run: the largest residuals relative to the largest
/// terms. At single instants all terms may vanish.
#[derive(Default)]
pub(super) struct Measure {
    forces: (f64, f64),
    rows: (f64, f64),
}

impl Measure {
    pub(super) fn see(&mut self, gauss: &Gauss) {
        for (own, new) in [(&mut self.forces, gauss.forces), (&mut self.rows, gauss.rows)] {
            own.0 = own.0.max(new.0);
            own.1 = own.1.max(new.1);
        }
    }

    pub(super) fn residual(&self) -> f64 {
        let ratio = |(left, whole): (f64, f64)| if left == 0.0 { 0.0 } else { left / whole };
        ratio(self.forces).max(ratio(self.rows))
    }
}
