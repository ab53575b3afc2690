//! Eigenvalues and eigenvectors of a small real matrix.
//!
//! Householder reduction to Hessenberg form, then Francis's implicit QR steps with a double
//! shift (Golub & Van Loan, *Matrix Computations*, algorithms 7.4.2 and 7.5.1). Everything stays
//! real, so conjugate pairs are conjugate to the last bit and real eigenvalues have no imaginary
//! part. Eigenvectors come from inverse iteration on the matrix itself.
//!
//! The zero eigenvalue is taken out first, by ranks ([`deflate`]): in mechanics it is nearly
//! always defective (a coordinate that drifts with its velocity), and no method on rounded
//! numbers gives a defective eigenvalue to more than half its digits, while the rank of the
//! matrix is certain.

use dalembert_expr::Random;
use dalembert_gauss::linalg::svd::Svd;
use dalembert_gauss::linalg::{dot, largest, norm};

/// A complex number.
pub type Complex = [f64; 2];

/// Most QR steps for one eigenvalue.
const MOST: usize = 90;

/// The eigenvalues of a row-major n × n matrix, conjugate pairs together with the positive
/// imaginary part first. `None` if the matrix is not finite or the iteration did not settle.
pub fn eigenvalues(matrix: &[f64], n: usize) -> Option<Vec<Complex>> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut h = matrix.to_vec();
    balance(&mut h, n);
    hessenberg(&mut h, n);
    francis(&mut h, n)
}

/// Scales rows and columns by powers of two until their norms are alike (Parlett & Reinsch
/// 1969). A row or column that is zero off the diagonal is left alone.
fn balance(a: &mut [f64], n: usize) {
    for _ in 0..50 {
        let mut changed = false;
        for i in 0..n {
            let others = || (0..n).filter(move |&j| j != i);
            let row: f64 = others().map(|j| a[i * n + j].abs()).sum();
            let column: f64 = others().map(|j| a[j * n + i].abs()).sum();
            if !(row > 0.0 && column > 0.0) {
                continue;
            }
            let factor = ((row / column).log2() / 2.0).round().clamp(-200.0, 200.0).exp2();
            if column * factor + row / factor < 0.95 * (column + row) {
                changed = true;
                (0..n).for_each(|j| a[i * n + j] /= factor);
                (0..n).for_each(|j| a[j * n + i] *= factor);
            }
        }
        if !changed {
            break;
        }
    }
}

/// A ← QᵀAQ with zeros below the first subdiagonal.
fn hessenberg(a: &mut [f64], n: usize) {
    for k in 0..n.saturating_sub(2) {
        let mut x: Vec<f64> = (k + 1..n).map(|i| a[i * n + k]).collect();
        let Some(beta) = householder(&mut x) else { continue };
        reflect_rows(a, n, k + 1, &x, beta, k..n);
        reflect_columns(a, n, k + 1, &x, beta, 0..n);
        (k + 2..n).for_each(|i| a[i * n + k] = 0.0);
    }
}

/// Turns x into v and returns β with (I − β v vᵀ) x = ±‖x‖ e₁; `None` if nothing is to be done.
fn householder(x: &mut [f64]) -> Option<f64> {
    let tail = norm(&x[1..]);
    if tail == 0.0 {
        return None;
    }
    let length = tail.hypot(x[0]);
    x[0] += length.copysign(x[0]);
    let size = largest(x);
    x.iter_mut().for_each(|v| *v /= size);
    Some(2.0 / dot(x, x))
}

/// Rows from `first` on, in the given columns, by I − β v vᵀ.
fn reflect_rows(
    a: &mut [f64],
    n: usize,
    first: usize,
    v: &[f64],
    beta: f64,
    columns: std::ops::Range<usize>,
) {
    for j in columns {
        let sum: f64 = v.iter().enumerate().map(|(i, v)| v * a[(first + i) * n + j]).sum();
        v.iter().enumerate().for_each(|(i, v)| a[(first + i) * n + j] -= beta * sum * v);
    }
}

/// Columns from `first` on, in the given rows, by I − β v vᵀ.
fn reflect_columns(
    a: &mut [f64],
    n: usize,
    first: usize,
    v: &[f64],
    beta: f64,
    rows: std::ops::Range<usize>,
) {
    for i in rows {
        let sum: f64 = v.iter().enumerate().map(|(j, v)| v * a[i * n + first + j]).sum();
        v.iter().enumerate().for_each(|(j, v)| a[i * n + first + j] -= beta * sum * v);
    }
}

/// The eigenvalues of a Hessenberg matrix.
fn francis(h: &mut [f64], n: usize) -> Option<Vec<Complex>> {
    let mut found = Vec::with_capacity(n);
    let size = norm(h);
    let mut end = n;
    let mut steps = 0;
    while end > 0 {
        // The active block begins below the last subdiagonal entry that is negligible.
        let mut begin = end - 1;
        while begin > 0 {
            let near = h[(begin - 1) * n + begin - 1].abs() + h[begin * n + begin].abs();
            let near = if near > 0.0 { near } else { size };
            if h[begin * n + begin - 1].abs() <= f64::EPSILON * near {
                h[begin * n + begin - 1] = 0.0;
                break;
            }
            begin -= 1;
        }
        match end - begin {
            1 => {
                found.push([h[begin * n + begin], 0.0]);
                end -= 1;
                steps = 0;
            }
            2 => {
                let at = |i: usize, j: usize| h[(begin + i) * n + begin + j];
                found.extend(pair(at(0, 0), at(0, 1), at(1, 0), at(1, 1)));
                end -= 2;
                steps = 0;
            }
            _ => {
                steps += 1;
                if steps > MOST {
                    return None;
                }
                step(h, n, begin, end, steps);
            }
        }
    }
    found.iter().flatten().all(|x| x.is_finite()).then_some(found)
}

/// The eigenvalues of [[a, b], [c, d]].
fn pair(a: f64, b: f64, c: f64, d: f64) -> [Complex; 2] {
    let half = (a - d) / 2.0;
    let product = b * c;
    let inside = half * half + product;
    let middle = (a + d) / 2.0;
    if inside < 0.0 {
        let im = (-inside).sqrt();
        return [[middle, im], [middle, -im]];
    }
    // The root of the larger sum first; the other from what it leaves, without cancellation.
    let z = half + inside.sqrt().copysign(half);
    let first = d + z;
    let second = if z == 0.0 { first } else { d - product / z };
    [[first, 0.0], [second, 0.0]]
}

/// One implicit double step on the block `begin..end`, which has at least three rows.
fn step(h: &mut [f64], n: usize, begin: usize, end: usize, count: usize) {
    let at = |i: usize, j: usize| i * n + j;
    let (p, q) = (end - 2, end - 1);
    // Sum and product of the two shifts: the eigenvalues of the last 2 × 2 block, or now and
    // then others, to leave a cycle.
    let (sum, product) = if count.is_multiple_of(10) {
        let s = h[at(q, p)].abs() + h[at(p, p - 1)].abs();
        (1.5 * s, s * s)
    } else {
        let (a, b, c, d) = (h[at(p, p)], h[at(p, q)], h[at(q, p)], h[at(q, q)]);
        (a + d, a * d - b * c)
    };
    let b = begin;
    let mut x = vec![
        h[at(b, b)] * h[at(b, b)] + h[at(b, b + 1)] * h[at(b + 1, b)] - sum * h[at(b, b)] + product,
        h[at(b + 1, b)] * (h[at(b, b)] + h[at(b + 1, b + 1)] - sum),
        h[at(b + 1, b)] * h[at(b + 2, b + 1)],
    ];
    for k in begin..end - 1 {
        if let Some(beta) = householder(&mut x) {
            let from = k.saturating_sub(1).max(begin);
            reflect_rows(h, n, k, &x, beta, from..end);
            reflect_columns(h, n, k, &x, beta, begin..(k + 4).min(end));
        }
        if k > begin {
            (k + 1..(k + 3).min(end)).for_each(|i| h[i * n + k - 1] = 0.0);
        }
        x = (k + 1..(k + 4).min(end)).map(|i| h[i * n + k]).collect();
    }
}

/// A matrix without its zero eigenvalue.
#[derive(Clone, Debug, Default)]
pub struct Deflated {
    /// What is left, row-major; it is regular.
    pub matrix: Vec<f64>,
    /// Its size.
    pub size: usize,
    /// How many Jordan blocks of the zero eigenvalue have at least one row, at least two, …
    pub blocks: Vec<usize>,
}

impl Deflated {
    /// The multiplicity of the zero eigenvalue.
    pub fn zeros(&self) -> usize {
        self.blocks.iter().sum()
    }
}

/// Takes the zero eigenvalue out: with V₁ the kernel of A and V₂ its orthogonal complement,
/// [V₁ V₂]ᵀA[V₁ V₂] = [[0, ∗], [0, V₂ᵀAV₂]], and again. Singular values up to `noise` count as
/// zero.
pub fn deflate(matrix: &[f64], n: usize, noise: f64) -> Deflated {
    let mut left = Deflated { matrix: matrix.to_vec(), size: n, blocks: Vec::new() };
    let mut svd = Svd::default();
    while left.size > 0 {
        let n = left.size;
        svd.decompose(&left.matrix, n, n);
        let rank = svd.sigma.iter().take_while(|&&s| s > noise).count();
        if rank == n {
            break;
        }
        left.blocks.push(n - rank);
        left.matrix = project(&left.matrix, n, &svd.v[..rank * n]);
        left.size = rank;
    }
    left
}

/// V A Vᵀ for orthonormal rows V.
pub fn project(a: &[f64], n: usize, v: &[f64]) -> Vec<f64> {
    let k = v.len() / n.max(1);
    let mut result = vec![0.0; k * k];
    let mut image = vec![0.0; n];
    for j in 0..k {
        dalembert_gauss::linalg::multiply(a, n, &v[j * n..(j + 1) * n], &mut image);
        (0..k).for_each(|i| result[i * k + j] = dot(&v[i * n..(i + 1) * n], &image));
    }
    result
}

/// A right eigenvector of an eigenvalue, of unit length, by inverse iteration; orthogonal to the
/// given ones of the same eigenvalue, so that a multiple eigenvalue shows all its vectors.
pub fn eigenvector(
    matrix: &[f64],
    n: usize,
    value: Complex,
    others: &[Vec<Complex>],
) -> Option<Vec<Complex>> {
    let size = norm(matrix);
    if size == 0.0 {
        // Any vector is one.
        let unit = |k: usize| (0..n).map(|i| [f64::from(u8::from(i == k)), 0.0]).collect();
        return (others.len() < n).then(|| unit(others.len()));
    }
    // Off the eigenvalue by rounding, so that the system can be solved.
    let off = 4.0 * f64::EPSILON * size;
    let shift = [value[0] + off, value[1]];
    let factors = Factors::new(matrix, n, shift, off)?;
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15 ^ (others.len() as u64));
    let mut x: Vec<Complex> = (0..n).map(|_| [1.0 + random.unit(), 0.0]).collect();
    for _ in 0..4 {
        apart(&mut x, others);
        x = factors.solve(&x);
        normalize(&mut x)?;
    }
    apart(&mut x, others);
    normalize(&mut x)?;
    Some(x)
}

/// How sensitive an eigenvalue is: ‖x‖‖y‖ / |yᴴx| with its right and left eigenvectors. `None`
/// where they could not be had or are orthogonal, as for a defective eigenvalue.
pub fn condition(matrix: &[f64], n: usize, value: Complex, right: &[Complex]) -> Option<f64> {
    let mut transposed = vec![0.0; n * n];
    for i in 0..n {
        (0..n).for_each(|j| transposed[j * n + i] = matrix[i * n + j]);
    }
    // The left vector y of λ is the conjugate of a right one of Aᵀ: yᴴx is their plain product.
    let left = eigenvector(&transposed, n, value, &[])?;
    let product = left.iter().zip(right).fold([0.0, 0.0], |s, (a, b)| {
        let p = times(*a, *b);
        [s[0] + p[0], s[1] + p[1]]
    });
    let product = product[0].hypot(product[1]);
    (product > 0.0).then(|| 1.0 / product).filter(|c| c.is_finite())
}

fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

fn over(a: Complex, b: Complex) -> Complex {
    let size = b[0].hypot(b[1]);
    let unit = [b[0] / size, -b[1] / size];
    let product = times(a, unit);
    [product[0] / size, product[1] / size]
}

fn apart(x: &mut [Complex], others: &[Vec<Complex>]) {
    for _ in 0..2 {
        for y in others {
            let along = y.iter().zip(x.iter()).fold([0.0, 0.0], |s, (y, x)| {
                let p = times([y[0], -y[1]], *x);
                [s[0] + p[0], s[1] + p[1]]
            });
            for (x, y) in x.iter_mut().zip(y) {
                let p = times(along, *y);
                *x = [x[0] - p[0], x[1] - p[1]];
            }
        }
    }
}

fn normalize(x: &mut [Complex]) -> Option<()> {
    let length = norm(&x.iter().map(|c| c[0].hypot(c[1])).collect::<Vec<_>>());
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    x.iter_mut().for_each(|c| *c = [c[0] / length, c[1] / length]);
    Some(())
}

/// Π(A − σI) = L U in complex numbers.
struct Factors {
    n: usize,
    lu: Vec<Complex>,
    order: Vec<usize>,
}

impl Factors {
    fn new(matrix: &[f64], n: usize, shift: Complex, smallest: f64) -> Option<Factors> {
        let mut lu: Vec<Complex> = matrix.iter().map(|&x| [x, 0.0]).collect();
        for i in 0..n {
            let d = &mut lu[i * n + i];
            *d = [d[0] - shift[0], d[1] - shift[1]];
        }
        let mut order: Vec<usize> = (0..n).collect();
        let size = |z: Complex| z[0].hypot(z[1]);
        for k in 0..n {
            let best =
                (k..n).max_by(|&i, &j| size(lu[i * n + k]).total_cmp(&size(lu[j * n + k])))?;
            order.swap(k, best);
            (0..n).for_each(|j| lu.swap(k * n + j, best * n + j));
            if size(lu[k * n + k]) < smallest {
                lu[k * n + k] = [smallest, 0.0];
            }
            let pivot = lu[k * n + k];
            for i in k + 1..n {
                let l = over(lu[i * n + k], pivot);
                lu[i * n + k] = l;
                for j in k + 1..n {
                    let p = times(l, lu[k * n + j]);
                    lu[i * n + j] = [lu[i * n + j][0] - p[0], lu[i * n + j][1] - p[1]];
                }
            }
        }
        Some(Factors { n, lu, order })
    }

    fn solve(&self, b: &[Complex]) -> Vec<Complex> {
        let n = self.n;
        let mut x: Vec<Complex> = self.order.iter().map(|&i| b[i]).collect();
        for i in 0..n {
            for j in 0..i {
                let p = times(self.lu[i * n + j], x[j]);
                x[i] = [x[i][0] - p[0], x[i][1] - p[1]];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                let p = times(self.lu[i * n + j], x[j]);
                x[i] = [x[i][0] - p[0], x[i][1] - p[1]];
            }
            x[i] = over(x[i], self.lu[i * n + i]);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut list: Vec<Complex>) -> Vec<Complex> {
        list.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        list
    }

    /// A block-diagonal matrix with known eigenvalues behind a similarity transformation.
    fn disguised(blocks: &[Complex], seed: u64) -> (Vec<f64>, usize) {
        let n: usize = blocks.iter().map(|b| if b[1] == 0.0 { 1 } else { 2 }).sum();
        let mut a = vec![0.0; n * n];
        let mut at = 0;
        for b in blocks {
            a[at * n + at] = b[0];
            if b[1] != 0.0 {
                a[at * n + at + 1] = b[1];
                a[(at + 1) * n + at] = -b[1];
                a[(at + 1) * n + at + 1] = b[0];
                at += 1;
            }
            at += 1;
        }
        // Elementary operations: row i += c row j, column j −= c column i.
        let mut random = Random::new(seed);
        for _ in 0..3 {
            for i in 0..n {
                for j in 0..n {
                    if i == j {
                        continue;
                    }
                    let c = random.unit() - 0.5;
                    (0..n).for_each(|k| a[i * n + k] += 0.3 * c * a[j * n + k]);
                    (0..n).for_each(|k| a[k * n + j] -= 0.3 * c * a[k * n + i]);
                }
            }
        }
        (a, n)
    }

    #[test]
    fn eigenvalues_of_disguised_matrices_come_back() {
        let blocks = [[-3.0, 0.0], [0.25, 2.0], [-0.5, 7.0], [4.0, 0.0], [1e-3, 0.0], [2.0, 0.5]];
        for seed in 1..20 {
            let (a, n) = disguised(&blocks, seed);
            let found = sorted(eigenvalues(&a, n).unwrap());
            let wanted = blocks
                .iter()
                .flat_map(|b| if b[1] == 0.0 { vec![*b] } else { vec![*b, [b[0], -b[1]]] });
            for (f, w) in found.iter().zip(sorted(wanted.collect())) {
                assert!((f[0] - w[0]).hypot(f[1] - w[1]) < 1e-11, "{f:?} {w:?}");
            }
            for value in &found {
                let x = eigenvector(&a, n, *value, &[]).unwrap();
                for i in 0..n {
                    let mut image = [0.0, 0.0];
                    for j in 0..n {
                        image[0] += a[i * n + j] * x[j][0];
                        image[1] += a[i * n + j] * x[j][1];
                    }
                    let p = times(*value, x[i]);
                    let off = (image[0] - p[0]).hypot(image[1] - p[1]);
                    assert!(off < 1e-11 * norm(&a), "{off:e}");
                }
            }
        }
    }

    #[test]
    fn permutations_and_cycles_converge() {
        // The cyclic shift: an unshifted QR iteration would never move.
        for n in 1..12 {
            let mut a = vec![0.0; n * n];
            (0..n).for_each(|i| a[((i + 1) % n) * n + i] = 1.0);
            let found = eigenvalues(&a, n).unwrap();
            assert_eq!(found.len(), n);
            assert!(found.iter().all(|z| (z[0].hypot(z[1]) - 1.0).abs() < 1e-13), "{n} {found:?}");
        }
        assert!(eigenvalues(&[f64::NAN], 1).is_none());
        assert_eq!(eigenvalues(&[], 0), Some(Vec::new()));
    }

    #[test]
    fn defective_zeros_are_counted_by_ranks() {
        // Jordan blocks of zero of sizes 3 and 1, and the eigenvalue 2.
        let mut a = vec![0.0; 25];
        a[1] = 1.0;
        a[5 + 2] = 1.0;
        a[24] = 2.0;
        let left = deflate(&a, 5, 1e-13);
        assert_eq!(left.blocks, [2, 1, 1]);
        assert_eq!((left.zeros(), left.size, left.matrix[0]), (4, 1, 2.0));
    }

    #[test]
    fn a_sensitive_eigenvalue_is_known_to_be_one() {
        let near = [1.0, 1.0, 1e-10, 1.0];
        let values = eigenvalues(&near, 2).unwrap();
        let x = eigenvector(&near, 2, values[0], &[]).unwrap();
        assert!(condition(&near, 2, values[0], &x).unwrap() > 1e4);
        let plain = [1.0, 0.0, 0.0, 2.0];
        let x = eigenvector(&plain, 2, [2.0, 0.0], &[]).unwrap();
        assert!((condition(&plain, 2, [2.0, 0.0], &x).unwrap() - 1.0).abs() < 1e-12);
    }
}
