//! Twists, wrenches and inertias of one link, in space (6) and in the plane (3).
//!
//! With e_j × r for the axes e_j, a twist is carried to a point at r by v + ω × r, a wrench given
//! back by τ + r × f, and an inertia by Xᵀ 𝓜 X: all three add multiples of the linear part by one
//! table, the rows e_j × r.

/// (linear, angular).
pub(super) type Spatial<const D: usize> = [f64; D];
/// By rows.
pub(super) type Matrix<const D: usize> = [[f64; D]; D];

/// How many of the components are linear.
const fn linear(d: usize) -> usize {
    if d == 6 { 3 } else { 2 }
}

/// The rows e_j × r.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lever<const D: usize>([[f64; 3]; 3]);

impl<const D: usize> Lever<D> {
    /// That of a link whose numbers begin at a place.
    #[inline(always)]
    pub(super) fn of(values: &[f64], at: usize) -> Lever<D> {
        match D {
            6 => {
                let [x, y, z] = [values[at], values[at + 1], values[at + 2]];
                Lever([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            }
            _ => Lever([[-values[at + 1], values[at], 0.0], [0.0; 3], [0.0; 3]]),
        }
    }

    /// The same, or the sizes of its entries.
    #[inline(always)]
    pub(super) fn sized(self, sizes: bool) -> Lever<D> {
        match sizes {
            true => Lever(self.0.map(|row| row.map(f64::abs))),
            false => self,
        }
    }

    /// X w.
    #[inline(always)]
    pub(super) fn carry(&self, twist: &Spatial<D>) -> Spatial<D> {
        let l = linear(D);
        let mut own = *twist;
        for j in 0..D - l {
            for i in 0..l {
                own[i] += self.0[j][i] * twist[l + j];
            }
        }
        own
    }

    /// Adds Xᵀ w.
    #[inline(always)]
    pub(super) fn give(&self, wrench: &Spatial<D>, to: &mut Spatial<D>) {
        let l = linear(D);
        for i in 0..D {
            to[i] += wrench[i];
        }
        for j in 0..D - l {
            for i in 0..l {
                to[l + j] += self.0[j][i] * wrench[i];
            }
        }
    }

    /// Adds Xᵀ 𝓜 X.
    #[inline(always)]
    pub(super) fn add(&self, inertia: &Matrix<D>, to: &mut Matrix<D>) {
        let l = linear(D);
        let mut own = *inertia;
        // 𝓜 X, then its rows.
        for row in &mut own {
            for j in 0..D - l {
                for i in 0..l {
                    row[l + j] += self.0[j][i] * row[i];
                }
            }
        }
        for j in 0..D - l {
            for i in 0..l {
                let by = self.0[j][i];
                let from = own[i];
                for k in 0..D {
                    own[l + j][k] += by * from[k];
                }
            }
        }
        for i in 0..D {
            for k in 0..D {
                to[i][k] += own[i][k];
            }
        }
    }
}

/// 𝓜 about the reference point, of the numbers of a link.
#[inline(always)]
pub(super) fn inertia<const D: usize>(values: &[f64]) -> Matrix<D> {
    let mut own = [[0.0; D]; D];
    if D == 6 {
        let c = [values[3], values[4], values[5]];
        let (m, j) = (values[6], &values[7..13]);
        let moments = [[j[0], j[3], j[4]], [j[3], j[1], j[5]], [j[4], j[5], j[2]]];
        // e_j × c: the velocity of the mass center as it turns about e_j.
        let lever = [[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]];
        for i in 0..3 {
            own[i][i] = m;
            for k in 0..3 {
                let first = m * lever[k][i];
                own[i][3 + k] = first;
                own[3 + k][i] = first;
                let second: f64 = (0..3).map(|l| lever[i][l] * lever[k][l]).sum();
                own[3 + i][3 + k] = moments[i][k] + m * second;
            }
        }
    } else {
        let (x, y, m) = (values[2], values[3], values[4]);
        own[0][0] = m;
        own[1][1] = m;
        (own[0][2], own[2][0]) = (-m * y, -m * y);
        (own[1][2], own[2][1]) = (m * x, m * x);
        own[2][2] = values[5] + m * (x * x + y * y);
    }
    own
}
