//! What a spectrum says about stability, and what it does not.
//!
//! Lyapunov's first method: an eigenvalue in the right half-plane makes the state unstable; if
//! all others are in the left one it is asymptotically stable. Zeros that belong to a manifold
//! of steady states do no harm then: the state is stable, and what is near settles somewhere on
//! the manifold (Lyapunov and Malkin; the usual case with nonholonomic constraints, where an
//! equilibrium is never alone). Eigenvalues on the imaginary axis leave the question open for the
//! full equations, except where the energy answers it (Lagrange and Dirichlet): a strict minimum
//! of the potential, on the constraints, of a conservative holonomic system. Where they form
//! chains, even the linear equations grow.
//!
//! Stability is meant up to the symmetries of the motion: a wheel that rolls on beside its old
//! track has not lost its balance. Along the symmetries what is near may drift away, which is said
//! beside. Where nothing is left across them but neighbouring steady states, as of a free particle,
//! nothing comes back and nothing holds it: that is neutral, not stable.

use super::SecondOrder;
use super::reduce::Reduced;
use super::spectrum::{Mode, Spectrum};
use crate::rows;
use dalembert_expr::ExprId;
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::linalg::{dot, multiply};
use dalembert_model::system::{Energy, Level, Model};

/// What can be said about stability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stability {
    /// All that is near comes back, or settles on a neighbouring steady state.
    AsymptoticallyStable,
    /// What is near stays near.
    Stable,
    /// All that is near is steady itself: nothing grows, and nothing comes back.
    Neutral,
    /// The linear equations do not decide.
    Undecided(Undecided),
    /// Something grows.
    Unstable {
        /// The largest real part.
        rate: f64,
    },
}

/// Why the linear equations do not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// Eigenvalues on the imaginary axis.
    ImaginaryAxis,
    /// Eigenvalues on the imaginary axis that form a chain, as far as rounding tells: in the
    /// linear equations something grows like t.
    Resonance,
    /// A zero eigenvalue that no neighbouring steady state explains.
    Degenerate,
    /// A zero eigenvalue with a chain: in the linear equations something drifts away at a
    /// constant rate.
    Drift,
}

impl Stability {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stability::AsymptoticallyStable => "asymptotically stable",
            Stability::Stable => "stable",
            Stability::Neutral => "neutral",
            Stability::Undecided(_) => "undecided",
            Stability::Unstable { .. } => "unstable",
        }
    }
}

/// The verdict; `minimum` says that the energy shows stability, `family` that the zeros across
/// the symmetries belong to neighbouring steady states.
pub(crate) fn verdict(spectrum: &Spectrum, minimum: bool, family: bool) -> Stability {
    let growing = spectrum.modes.iter().filter(|m| m.grows());
    if let Some(rate) = growing.map(|m| m.value[0]).reduce(f64::max) {
        return Stability::Unstable { rate };
    }
    if minimum {
        let decaying = spectrum.modes.iter().all(Mode::decays);
        return match decaying && !spectrum.modes.is_empty() {
            true => Stability::AsymptoticallyStable,
            false => Stability::Stable,
        };
    }
    if spectrum.zeros.len() > 1 {
        return Stability::Undecided(Undecided::Drift);
    }
    if !spectrum.resonant.is_empty() {
        return Stability::Undecided(Undecided::Resonance);
    }
    if !spectrum.zeros.is_empty() && !family {
        return Stability::Undecided(Undecided::Degenerate);
    }
    if spectrum.modes.is_empty() && spectrum.count_zeros() + spectrum.symmetric.len() > 0 {
        return Stability::Neutral;
    }
    if spectrum.modes.iter().all(Mode::decays) {
        return Stability::AsymptoticallyStable;
    }
    Stability::Undecided(Undecided::ImaginaryAxis)
}

/// Whether an equilibrium is a strict minimum of the potential (with −T0, the part of the kinetic
/// energy without velocities) on the constraints, up to symmetries, of a system whose energy is
/// conserved: nothing but ideal holonomic constraints at rest, and no other forces than such as
/// are 0 for these values of the parameters. Where the symmetries leave no direction across them
/// there is no minimum.
pub(crate) fn is_minimum(
    model: &Model,
    autonomous: bool,
    reduced: &Reduced,
    second: Option<&SecondOrder>,
    spectrum: &Spectrum,
) -> bool {
    let (exprs, system) = (&model.exprs, &model.system);
    let holonomic = system.constraints.iter().all(|c| c.level == Level::Position && c.scleronomic);
    let forces = system.forces.iter().chain(&system.nonideal).flat_map(|f| &f.components);
    let forces: Vec<ExprId> = forces.map(|c| c.1).collect();
    let forces = exprs.substitute(&forces, &rows::parameter_values(exprs, system));
    let conservative = exprs.all_zero(&forces).is_zero();
    let by_velocities = matches!(system.energy, Energy::Lagrangian { .. });
    if !(autonomous && holonomic && conservative && by_velocities)
        || reduced.positions != reduced.velocities
        || !system.states.is_empty()
    {
        return false;
    }
    let Some(second) = second else { return false };
    // 𝖪 and 𝖬 in natural units; 𝖪 is known up to what 𝖬⁻¹ made of rounding.
    let (nz, d) = (reduced.positions.len(), reduced.dimension());
    let scaled = |matrix: &[f64]| -> Vec<f64> {
        let at = |i: usize, j: usize| matrix[i * nz + j] * reduced.scales[i] * reduced.scales[j];
        (0..nz * nz).map(|k| (at(k / nz, k % nz) + at(k % nz, k / nz)) / 2.0).collect()
    };
    let (mut mass, mut svd) = (Svd::default(), Svd::default());
    mass.decompose(&scaled(&second.mass), nz, nz);
    let stiffness = scaled(&second.stiffness);
    svd.decompose(&stiffness, nz, nz);
    let (Some(&heavy), Some(&light)) = (mass.sigma.first(), mass.sigma.last()) else {
        return false;
    };
    let rounding = (64.0 * d as f64 * f64::EPSILON).max(16.0 * reduced.closure);
    let noise = rounding * svd.sigma[0] * heavy / light;
    // Singular values of a symmetric matrix are eigenvalues up to their signs.
    let mut image = vec![0.0; nz];
    let mut is_positive = |k: usize| {
        let direction = &svd.v[k * nz..(k + 1) * nz];
        multiply(&stiffness, nz, direction, &mut image);
        dot(direction, &image) > 0.5 * svd.sigma[k]
    };
    let rank = svd.sigma.iter().take_while(|&&s| s > noise).count();
    let along = spectrum.symmetric_zeros + spectrum.symmetric.len();
    nz - rank == along && rank > 0 && (0..rank).all(&mut is_positive)
}
