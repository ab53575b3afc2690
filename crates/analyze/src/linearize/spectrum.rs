//! The spectrum of a steady state: what its symmetries explain, what is zero, and the modes.
//!
//! In natural units S is split by orthogonal transformations:
//!
//! ```text
//! S ~ [[S₁₁, ∗], [0, S₂₂]]
//! ```
//!
//! S₁₁ acts on displacements along the symmetries, which lead to the same motion elsewhere: its
//! eigenvalues are 0, and ±iω in a motion that turns. S₂₂ is the motion up to its symmetries.
//! Its zeros are neighbouring steady motions (another speed, another point of a manifold of
//! equilibria), or a degenerate state; they are counted by ranks. What remains are the modes.
//!
//! Whether a mode lies on the imaginary axis is decided by the matrix and not by the eigenvalue,
//! of which rounding may leave half of the digits or fewer: σ_min(S₂₂ − iω) within the noise means
//! that a matrix as near as rounding has iω itself. Modes on the axis that meet there are semisimple
//! (each oscillates by itself) or form chains (in the linear equations something grows like t),
//! which ranks tell apart.
//!
//! Where S has no block on its diagonal (no damping, no gyroscopic terms) λ² are the eigenvalues
//! of a matrix of half the size, and ±λ pairs are exact.

use super::LinearizeError;
use super::eigen::{self, Complex, Deflated};
use super::reduce::Reduced;
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::linalg::{dot, multiply, norm};

/// The spectrum of a steady state on the constraints.
#[derive(Clone, Debug, Default)]
pub struct Spectrum {
    /// Zeros that the symmetries explain.
    pub symmetric_zeros: usize,
    /// Eigenvalues other than zero that the symmetries explain.
    pub symmetric: Vec<Complex>,
    /// Zeros of the motion up to symmetries: how many chains have at least one member, at least
    /// two, …
    pub zeros: Vec<usize>,
    /// The other eigenvalues, the largest real part first, conjugate pairs together.
    pub modes: Vec<Mode>,
    /// Frequencies ω at which modes ±iω form a chain, as far as rounding tells: in the linear
    /// equations something grows like t.
    pub resonant: Vec<f64>,
    /// Whether zeros form chains, be it along the symmetries: in the linear equations something
    /// drifts away at a constant rate.
    pub drifts: bool,
    /// Displacements (δq, δv) that belong to the first entry of `zeros`.
    pub neutral: Vec<Vec<f64>>,
    /// What S may be off by, in natural units.
    pub noise: f64,
}

/// An eigenvalue that is not zero and its shape.
#[derive(Clone, Debug, Default)]
pub struct Mode {
    /// λ. Where it oscillates and rounding explains its real part, that is exactly 0.
    pub value: Complex,
    /// What λ may be off by, from the noise of the matrix and the eigenvalue's own sensitivity.
    pub uncertainty: f64,
    /// (δq, δv) in the model's coordinates, the coordinate largest in the mass metric being 1;
    /// empty if it could not be computed.
    pub shape: Vec<Complex>,
}

impl Mode {
    /// Whether it grows, beyond what rounding explains.
    pub fn grows(&self) -> bool {
        self.value[0] > 0.0 && (self.value[1] != 0.0 || self.value[0] > self.uncertainty)
    }

    /// Whether it decays, beyond what rounding explains.
    pub fn decays(&self) -> bool {
        self.value[0] < 0.0 && (self.value[1] != 0.0 || self.value[0] < -self.uncertainty)
    }
}

impl Spectrum {
    /// How many eigenvalues are zero.
    pub fn count_zeros(&self) -> usize {
        self.symmetric_zeros + self.zeros.iter().sum::<usize>()
    }

    /// All eigenvalues on the constraints: modes first, zeros last.
    pub fn all(&self) -> Vec<Complex> {
        let mut list: Vec<Complex> = self.modes.iter().map(|m| m.value).collect();
        list.extend(&self.symmetric);
        list.extend(std::iter::repeat_n([0.0, 0.0], self.count_zeros()));
        list
    }
}

/// The spectrum of S, given the displacements (δq, δv) along the symmetries.
pub(crate) fn spectrum(
    reduced: &Reduced,
    orbit: &[Vec<f64>],
    sizes: &[f64],
) -> Result<Spectrum, LinearizeError> {
    let d = reduced.dimension();
    let s = reduced.scaled();
    let mut svd = Svd::default();
    svd.decompose(&s, d, d);
    let size = svd.sigma.first().copied().unwrap_or(0.0);
    let noise = size * (64.0 * d as f64 * f64::EPSILON).max(16.0 * reduced.closure);
    let (along, across) = split(reduced, orbit, &s, size);
    let inner = eigen::deflate(&eigen::project(&s, d, &along), along.len() / d.max(1), noise);
    let outer_size = across.len() / d.max(1);
    let outer = eigen::deflate(&eigen::project(&s, d, &across), outer_size, noise);
    let no = || LinearizeError::NoEigenvalues;
    let symmetric = eigen::eigenvalues(&inner.matrix, inner.size).ok_or_else(no)?;
    let values = match halved(reduced, &s, noise, size) {
        Some(values) if values.len() == outer.size && symmetric.is_empty() => values,
        _ => eigen::eigenvalues(&outer.matrix, outer.size).ok_or_else(no)?,
    };
    let mut spectrum = Spectrum {
        symmetric_zeros: inner.zeros(),
        symmetric,
        neutral: neutral(reduced, &s, &across, &outer, noise),
        zeros: outer.blocks.clone(),
        drifts: eigen::deflate(&s, d, noise).blocks.len() > 1,
        resonant: Vec::new(),
        modes: Vec::new(),
        noise,
    };
    let mut on_axis = Vec::new();
    for value in ordered(values) {
        let mode = mode(reduced, &s, &outer, value, noise, size, sizes, &spectrum.modes);
        if mode.value[0] == 0.0 && mode.value[1] > 0.0 {
            on_axis.push(value[1]);
        }
        spectrum.modes.push(mode);
    }
    spectrum.resonant = resonant(&outer, on_axis, noise, size);
    Ok(spectrum)
}

/// S₂₂ − iω as a real matrix of twice the size; every singular value is there twice.
fn shifted(outer: &Deflated, omega: f64) -> Vec<f64> {
    let n = outer.size;
    let mut shifted = vec![0.0; 4 * n * n];
    for i in 0..n {
        for j in 0..n {
            shifted[i * 2 * n + j] = outer.matrix[i * n + j];
            shifted[(n + i) * 2 * n + n + j] = outer.matrix[i * n + j];
        }
        shifted[i * 2 * n + n + i] = omega;
        shifted[(n + i) * 2 * n + i] = -omega;
    }
    shifted
}

/// Whether a matrix as near to S₂₂ as rounding has the eigenvalue iω.
fn may_be_on_axis(outer: &Deflated, omega: f64, noise: f64) -> bool {
    let mut svd = Svd::default();
    svd.decompose(&shifted(outer, omega), 2 * outer.size, 2 * outer.size);
    svd.sigma.last().is_some_and(|&s| s <= noise)
}

/// Frequencies on the axis at which modes form chains. Eigenvalues of a chain of k are off by
/// the k-th root of the noise, each, and by the noise in their mean.
fn resonant(outer: &Deflated, mut on_axis: Vec<f64>, noise: f64, size: f64) -> Vec<f64> {
    on_axis.sort_by(f64::total_cmp);
    let mut found: Vec<f64> = Vec::new();
    for k in 2..=4 {
        let near = 4.0 * size * (noise / size).powf(1.0 / f64::from(k));
        for group in on_axis.chunk_by(|a, b| b - a <= near).filter(|g| g.len() > 1) {
            let mean = group.iter().sum::<f64>() / group.len() as f64;
            let chains = eigen::deflate(&shifted(outer, mean), 2 * outer.size, 4.0 * noise).blocks;
            let known = found.iter().any(|f| (f - mean).abs() <= near);
            if chains.len() > 1 && !known {
                found.push(mean);
            }
        }
    }
    found
}

/// The largest real part first; of a pair, the positive imaginary part first.
fn ordered(mut values: Vec<Complex>) -> Vec<Complex> {
    values.sort_by(|a, b| {
        let near = (a[0] - b[0]).abs() <= 1e-9 * (a[0].hypot(a[1]) + b[0].hypot(b[1]));
        let by_real = if near { std::cmp::Ordering::Equal } else { b[0].total_cmp(&a[0]) };
        by_real.then(a[1].abs().total_cmp(&b[1].abs())).then(b[1].total_cmp(&a[1]))
    });
    values
}

/// Orthonormal rows along the symmetries, and across them.
fn split(reduced: &Reduced, orbit: &[Vec<f64>], s: &[f64], size: f64) -> (Vec<f64>, Vec<f64>) {
    let d = reduced.dimension();
    let mut rows = Vec::new();
    for o in orbit {
        let free = reduced.free(o);
        let scaled: Vec<f64> = free.iter().zip(&reduced.scales).map(|(x, s)| x / s).collect();
        let length = norm(&scaled);
        if length > 0.0 {
            rows.extend(scaled.iter().map(|x| x / length));
        }
    }
    let count = (rows.len() / d.max(1)).max(d);
    rows.resize(count * d, 0.0);
    let mut svd = Svd::default();
    svd.decompose(&rows, count, d);
    let rank = svd.rank(1e-9);
    let (along, across) = svd.v.split_at(rank * d);
    // The space along the symmetries is carried into itself; if rounding or a degenerate state
    // says otherwise, nothing is split.
    let mut image = vec![0.0; d];
    for k in 0..rank {
        multiply(s, d, &along[k * d..(k + 1) * d], &mut image);
        let leaves = across.chunks_exact(d).any(|row| dot(row, &image).abs() > 1e-7 * size);
        if leaves {
            let mut identity = vec![0.0; d * d];
            (0..d).for_each(|i| identity[i * d + i] = 1.0);
            return (Vec::new(), identity);
        }
    }
    (along.to_vec(), across.to_vec())
}

/// ±√μ with μ the eigenvalues of S_uz S_zu, where S has nothing else.
fn halved(reduced: &Reduced, s: &[f64], noise: f64, size: f64) -> Option<Vec<Complex>> {
    let (nz, nu, d) = (reduced.positions.len(), reduced.velocities.len(), reduced.dimension());
    let own = |k: &usize| (k / d < nz) == (k % d < nz);
    if nz + nu < d || (0..d * d).filter(own).any(|k| s[k].abs() > noise) {
        return None;
    }
    let mut product = vec![0.0; nu * nu];
    for i in 0..nu {
        for j in 0..nu {
            product[i * nu + j] = (0..nz).map(|k| s[(nz + i) * d + k] * s[k * d + nz + j]).sum();
        }
    }
    let squares = eigen::deflate(&product, nu, noise * size);
    let values = eigen::eigenvalues(&squares.matrix, squares.size)?;
    let mut list = Vec::new();
    for [re, im] in values {
        let size = re.hypot(im);
        // √(a + bi) without cancellation.
        let root = if im == 0.0 {
            if re < 0.0 { [0.0, (-re).sqrt()] } else { [re.sqrt(), 0.0] }
        } else {
            let large = ((size + re.abs()) / 2.0).sqrt();
            let small = im.abs() / (2.0 * large);
            let (a, b) = if re >= 0.0 { (large, small) } else { (small, large) };
            [a, b.copysign(im)]
        };
        list.push(root);
        list.push([-root[0], -root[1]]);
    }
    Some(list.into_iter().map(|[a, b]| [a + 0.0, b + 0.0]).collect())
}

/// The kernel of S across the symmetries, as displacements of the state.
fn neutral(
    reduced: &Reduced,
    s: &[f64],
    across: &[f64],
    outer: &Deflated,
    noise: f64,
) -> Vec<Vec<f64>> {
    if outer.blocks.is_empty() {
        return Vec::new();
    }
    let d = reduced.dimension();
    let k = across.len() / d;
    let mut svd = Svd::default();
    svd.decompose(&eigen::project(s, d, across), k, k);
    let rank = svd.sigma.iter().take_while(|&&x| x > noise).count();
    let vector = |row: &[f64]| -> Vec<f64> {
        let free: Vec<f64> = (0..d)
            .map(|j| (0..k).map(|i| row[i] * across[i * d + j]).sum::<f64>() * reduced.scales[j])
            .collect();
        lift(reduced, &free)
    };
    (rank..k).map(|i| vector(&svd.v[i * k..(i + 1) * k])).collect()
}

/// T (z, u).
fn lift(reduced: &Reduced, free: &[f64]) -> Vec<f64> {
    let length = reduced.tangent.first().map_or(0, Vec::len);
    (0..length).map(|i| reduced.tangent.iter().zip(free).map(|(t, x)| t[i] * x).sum()).collect()
}

#[allow(clippy::too_many_arguments)]
fn mode(
    reduced: &Reduced,
    s: &[f64],
    outer: &Deflated,
    value: Complex,
    noise: f64,
    size: f64,
    sizes: &[f64],
    before: &[Mode],
) -> Mode {
    let d = reduced.dimension();
    let near = |other: &Complex| {
        (other[0] - value[0]).hypot(other[1] - value[1]) <= 1e-7 * value[0].hypot(value[1])
    };
    // The sensitivity is that of the matrix whose eigenvalue it is: the zeros are gone from it.
    let right = eigen::eigenvector(&outer.matrix, outer.size, value, &[]);
    let condition = right.and_then(|x| eigen::condition(&outer.matrix, outer.size, value, &x));
    // Two eigenvalues that have met are known to half the digits.
    let most = (noise * size).sqrt();
    let mut uncertainty = condition.map_or(most, |c| (c * noise).min(most));
    let mut value = value;
    if value[1] != 0.0 && value[0] != 0.0 {
        // Far from the axis there is no need to look.
        let close = value[0].abs() <= size * (noise / size).powf(0.2);
        if close && may_be_on_axis(outer, value[1], noise) {
            uncertainty = uncertainty.max(value[0].abs());
            value[0] = 0.0;
        }
    }
    let others: Vec<Vec<Complex>> = before
        .iter()
        .filter(|m| near(&m.value) && !m.shape.is_empty())
        .map(|m| {
            let part = |at: usize| -> Vec<f64> {
                let all: Vec<f64> = m.shape.iter().map(|c| c[at]).collect();
                let free = reduced.free(&all);
                free.iter().zip(&reduced.scales).map(|(x, s)| x / s).collect()
            };
            let (re, im) = (part(0), part(1));
            let length = norm(&[norm(&re), norm(&im)]).max(f64::MIN_POSITIVE);
            re.iter().zip(im).map(|(a, b)| [a / length, b / length]).collect()
        })
        .collect();
    let shape = match eigen::eigenvector(s, d, value, &others) {
        Some(x) => shaped(reduced, &x, sizes),
        None => Vec::new(),
    };
    Mode { value, uncertainty, shape }
}

/// An eigenvector in the model's coordinates, its largest coordinate being 1.
fn shaped(reduced: &Reduced, x: &[Complex], sizes: &[f64]) -> Vec<Complex> {
    let part = |at: usize| -> Vec<f64> {
        let free: Vec<f64> = x.iter().zip(&reduced.scales).map(|(c, s)| c[at] * s).collect();
        lift(reduced, &free)
    };
    let (re, im) = (part(0), part(1));
    let n = sizes.len();
    let weight = |i: usize| re[i].hypot(im[i]) / sizes[i];
    let largest = (0..n).max_by(|&i, &j| {
        // The first one among equals.
        weight(i).total_cmp(&(weight(j) * (1.0 + 1e-9))).then(j.cmp(&i))
    });
    let Some(at) = largest.filter(|&i| weight(i) > 0.0) else { return Vec::new() };
    let size = re[at].hypot(im[at]);
    let unit = [re[at] / size, -im[at] / size];
    let turned = |i: usize| {
        let [a, b] = [re[i] / size, im[i] / size];
        [a * unit[0] - b * unit[1], a * unit[1] + b * unit[0]]
    };
    (0..re.len()).map(turned).collect()
}
