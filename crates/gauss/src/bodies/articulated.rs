//! Γ⁻¹ along a tree by articulated inertias, in as many steps as there are links.
//!
//! From the leaves inward, with 𝓘_k the inertia that is felt at link k when all joints beyond it are
//! free to move,
//!
//! ```text
//! U = 𝓘 S ,   D = SᵀU + Γ₀ ,   𝓘_p += Xᵀ(𝓘 − U D⁻¹Uᵀ)X
//! ```
//!
//! which is Γ = Gᵀ D G with a G that is never formed either. With D = L Δ Lᵀ,
//!
//! ```text
//! inward    y = Δ^−½ L⁻¹ G⁻ᵀ f       outward   x = G⁻¹ L⁻ᵀ Δ^−½ y
//! ```
//!
//! are transposes of each other, Γ⁻¹ is one after the other, and rows A become A F⁻ᵀ with Γ = FᵀF: what
//! ranks and multipliers go by. Featherstone, *Rigid Body Dynamics Algorithms*, §7.3; Jain, *Robot and
//! Multibody Dynamics*, ch. 9 (the factors). It needs Γ ≻ 0: a coordinate that moves no mass while
//! joints beyond it are free has D = 0.

use super::Bodies;
use super::moving::{Lever, Matrix, Spatial, inertia};

/// Unit: part of Γ_ii. Pivots below are rounding of what was eliminated beyond them.
const SINGULAR: f64 = 1e3 * f64::EPSILON;

/// Factors of Γ.
#[derive(Clone, Debug, Default)]
pub struct Articulated {
    /// U by columns, link by link; its columns in the order of coordinates along the tree.
    along: Vec<f64>,
    /// L and Δ of each D, by rows.
    blocks: Vec<f64>,
    /// 1/√Δ in the order of coordinates along the tree.
    roots: Vec<f64>,
    /// 𝓘 of the links, then what is carried of twists and wrenches.
    inertias: Vec<f64>,
    carried: Vec<f64>,
    own: Vec<f64>,
}

impl Articulated {
    /// Factors Γ. False if a pivot is not positive, beyond rounding.
    pub fn factor(&mut self, bodies: &Bodies, values: &[f64]) -> bool {
        match bodies.is_plane {
            true => self.factor_sized::<3>(bodies, values),
            false => self.factor_sized::<6>(bodies, values),
        }
    }

    /// y = Δ^−½ L⁻¹ G⁻ᵀ f, its entries in the order of coordinates along the tree.
    pub fn inward(&mut self, bodies: &Bodies, values: &[f64], f: &[f64], y: &mut [f64]) {
        match bodies.is_plane {
            true => self.inward_sized::<3>(bodies, values, f, y),
            false => self.inward_sized::<6>(bodies, values, f, y),
        }
    }

    /// x = G⁻¹ L⁻ᵀ Δ^−½ y.
    pub fn outward(&mut self, bodies: &Bodies, values: &[f64], y: &[f64], x: &mut [f64]) {
        match bodies.is_plane {
            true => self.outward_sized::<3>(bodies, values, y, x),
            false => self.outward_sized::<6>(bodies, values, y, x),
        }
    }

    fn factor_sized<const D: usize>(&mut self, bodies: &Bodies, values: &[f64]) -> bool {
        let count = bodies.links.len();
        let Articulated { along, blocks, roots, inertias, own, .. } = self;
        along.resize(D * bodies.size, 0.0);
        roots.resize(bodies.size, 0.0);
        blocks.resize(bodies.links.iter().map(|link| link.count * link.count).sum(), 0.0);
        inertias.resize(D * D * count, 0.0);
        for (link, into) in bodies.links.iter().zip(inertias.chunks_exact_mut(D * D)) {
            let own: Matrix<D> = inertia(&values[link.at..]);
            into.copy_from_slice(own.as_flattened());
        }
        let mut block_at = blocks.len();
        let mut is_regular = true;
        for (k, link) in bodies.links.iter().enumerate().rev() {
            let mut felt: Matrix<D> = [[0.0; D]; D];
            felt.as_flattened_mut().copy_from_slice(&inertias[D * D * k..D * D * (k + 1)]);
            let (d, first) = (link.count, link.first);
            block_at -= d * d;
            let steps = &values[link.steps..link.steps + D * d];
            let along = &mut along[D * first..D * (first + d)];
            let diagonal = |slot: usize| values[bodies.columns[first + slot]];
            if d == 1 {
                let step: &Spatial<D> = steps.first_chunk().expect("a column has D entries");
                let moved = times(&felt, step);
                let rest = link.rest.map_or(0.0, |at| values[at]);
                let pivot = dot(step, &moved) + rest;
                is_regular &= pivot > SINGULAR * diagonal(0);
                blocks[block_at] = pivot;
                roots[first] = 1.0 / pivot.sqrt();
                along.copy_from_slice(&moved);
                if link.parent.is_some() {
                    take(&mut felt, &moved, 1.0 / pivot);
                }
            } else if d > 1 {
                for (step, into) in steps.chunks_exact(D).zip(along.chunks_exact_mut(D)) {
                    let step: &Spatial<D> = step.first_chunk().expect("a column has D entries");
                    into.copy_from_slice(&times(&felt, step));
                }
                let block = &mut blocks[block_at..block_at + d * d];
                for a in 0..d {
                    for b in 0..=a {
                        let rest = link.rest.map_or(0.0, |at| values[at + a * d + b]);
                        let pair = steps[D * a..D * (a + 1)].iter().zip(&along[D * b..]);
                        block[a * d + b] = rest + pair.map(|(s, u)| s * u).sum::<f64>();
                    }
                }
                // D = L Δ Lᵀ, and W = U L⁻ᵀ column by column: U D⁻¹Uᵀ = W Δ⁻¹Wᵀ.
                own.clear();
                own.extend_from_slice(along);
                for a in 0..d {
                    let pivot = block[a * d + a];
                    is_regular &= pivot > SINGULAR * diagonal(a);
                    roots[first + a] = 1.0 / pivot.sqrt();
                    for b in a + 1..d {
                        let by = block[b * d + a] / pivot;
                        for c in a + 1..=b {
                            // Columns behind a are not divided yet.
                            block[b * d + c] -= by * block[c * d + a];
                        }
                        let (done, later) = own.split_at_mut(D * b);
                        let from = &done[D * a..D * (a + 1)];
                        later[..D].iter_mut().zip(from).for_each(|(w, u)| *w -= by * u);
                    }
                    (a + 1..d).for_each(|b| block[b * d + a] /= pivot);
                }
                if link.parent.is_some() {
                    for (a, column) in own.chunks_exact(D).enumerate() {
                        let column: &Spatial<D> = column.first_chunk().expect("D entries");
                        take(&mut felt, column, 1.0 / block[a * d + a]);
                    }
                }
            }
            if let Some(parent) = link.parent {
                let mut to: Matrix<D> = [[0.0; D]; D];
                let place = D * D * parent..D * D * (parent + 1);
                to.as_flattened_mut().copy_from_slice(&inertias[place.clone()]);
                Lever::<D>::of(values, link.at).add(&felt, &mut to);
                inertias[place].copy_from_slice(to.as_flattened());
            }
        }
        is_regular
    }

    fn inward_sized<const D: usize>(
        &mut self,
        bodies: &Bodies,
        values: &[f64],
        f: &[f64],
        y: &mut [f64],
    ) {
        let Articulated { along, blocks, roots, carried, own, .. } = self;
        carried.clear();
        carried.resize(D * bodies.links.len(), 0.0);
        let mut block_at = blocks.len();
        for (k, link) in bodies.links.iter().enumerate().rev() {
            let (d, first) = (link.count, link.first);
            block_at -= d * d;
            let mut wrench: Spatial<D> = spatial(carried, k);
            own.clear();
            for (column, step) in bodies.steps_of::<D>(link, values) {
                let felt: f64 = (0..D).map(|i| step[i] * wrench[i]).sum();
                own.push(f[column] - felt);
            }
            // L z = u, y = Δ^−½ z, and the joint gives U D⁻¹u on.
            let block = &blocks[block_at..block_at + d * d];
            for a in 0..d {
                for b in 0..a {
                    own[a] -= block[a * d + b] * own[b];
                }
                y[first + a] = own[a] * roots[first + a];
            }
            let Some(parent) = link.parent else { continue };
            back(block, d, own);
            for (u, by) in along[D * first..].chunks_exact(D).zip(&*own) {
                (0..D).for_each(|i| wrench[i] += u[i] * by);
            }
            let mut to: Spatial<D> = spatial(carried, parent);
            Lever::<D>::of(values, link.at).give(&wrench, &mut to);
            carried[D * parent..D * (parent + 1)].copy_from_slice(&to);
        }
    }

    fn outward_sized<const D: usize>(
        &mut self,
        bodies: &Bodies,
        values: &[f64],
        y: &[f64],
        x: &mut [f64],
    ) {
        let Articulated { along, blocks, roots, carried, own, .. } = self;
        carried.clear();
        let mut block_at = 0;
        for link in &bodies.links {
            let (d, first) = (link.count, link.first);
            let mut twist: Spatial<D> = match link.parent {
                Some(parent) => Lever::<D>::of(values, link.at).carry(&spatial(carried, parent)),
                None => [0.0; D],
            };
            let block = &blocks[block_at..block_at + d * d];
            block_at += d * d;
            // L⁻ᵀ(Δ^−½ y − Δ⁻¹L⁻¹ Uᵀw)
            own.clear();
            for a in 0..d {
                let u = &along[D * (first + a)..D * (first + a + 1)];
                let mut felt: f64 = (0..D).map(|i| u[i] * twist[i]).sum();
                for b in 0..a {
                    felt -= block[a * d + b] * own[b];
                }
                own.push(felt);
            }
            for a in 0..d {
                let root = roots[first + a];
                own[a] = root * y[first + a] - own[a] / block[a * d + a];
            }
            for a in (0..d).rev() {
                for b in a + 1..d {
                    own[a] -= block[b * d + a] * own[b];
                }
            }
            for ((column, step), own) in bodies.steps_of::<D>(link, values).zip(&*own) {
                x[column] = *own;
                (0..D).for_each(|i| twist[i] += step[i] * own);
            }
            carried.extend_from_slice(&twist);
        }
    }
}

/// L⁻ᵀ Δ⁻¹ z in place.
#[inline(always)]
fn back(block: &[f64], d: usize, z: &mut [f64]) {
    (0..d).for_each(|a| z[a] /= block[a * d + a]);
    for a in (0..d).rev() {
        for b in a + 1..d {
            z[a] -= block[b * d + a] * z[b];
        }
    }
}

#[inline(always)]
fn spatial<const D: usize>(list: &[f64], k: usize) -> Spatial<D> {
    *list[D * k..D * (k + 1)].first_chunk().expect("D entries")
}

#[inline(always)]
fn times<const D: usize>(matrix: &Matrix<D>, x: &Spatial<D>) -> Spatial<D> {
    // By columns, which are its rows: sums wait for nothing.
    let mut out = [0.0; D];
    for (row, x) in matrix.iter().zip(x) {
        (0..D).for_each(|i| out[i] += row[i] * x);
    }
    out
}

#[inline(always)]
fn dot<const D: usize>(a: &Spatial<D>, b: &Spatial<D>) -> f64 {
    (0..D).map(|i| a[i] * b[i]).sum()
}

/// Takes u uᵀ by a factor away.
#[inline(always)]
fn take<const D: usize>(from: &mut Matrix<D>, u: &Spatial<D>, by: f64) {
    for i in 0..D {
        let own = u[i] * by;
        (0..D).for_each(|k| from[i][k] -= own * u[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Random, random};
    use super::*;
    use crate::linalg::cholesky;

    #[test]
    fn both_passes_are_the_inverse_and_transposes_of_each_other() {
        let mut seed = Random(5);
        let mut own = Articulated::default();
        for case in 0..300 {
            let (bodies, values) = random(&mut seed, 1 + case % 12, case % 2 == 0);
            let n = bodies.size();
            if n == 0 {
                continue;
            }
            let mut dense = bodies.dense(&values);
            // Links may have more coordinates than ways to move: then Γ is singular.
            let mut order: Vec<usize> = (0..n).collect();
            let found = cholesky::factor_pivoted(&mut dense.clone(), n, &vec![0.0; n], &mut order);
            let is_regular = own.factor(&bodies, &values);
            if found.rank < n {
                continue;
            }
            assert!(is_regular, "{case}");
            let f: Vec<f64> = (0..n).map(|_| seed.next()).collect();
            let g: Vec<f64> = (0..n).map(|_| seed.next()).collect();
            let (mut y, mut x, mut z) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            own.inward(&bodies, &values, &f, &mut y);
            own.outward(&bodies, &values, &y, &mut x);
            let mut right = f.clone();
            assert!(cholesky::factor(&mut dense, n).is_ok(), "{case}");
            cholesky::solve_lower(&dense, n, n, &mut right);
            cholesky::solve_lower_transposed(&dense, n, n, &mut right);
            let most = right.iter().fold(1f64, |m, x| m.max(x.abs()));
            for (a, b) in x.iter().zip(&right) {
                assert!((a - b).abs() <= 1e-9 * most, "{case}: {a} for {b}");
            }
            // f·(outward g) = (inward f)·g
            own.outward(&bodies, &values, &g, &mut z);
            let [one, two] =
                [[&f, &z], [&y, &g]].map(|[a, b]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>());
            assert!((one - two).abs() <= 1e-10 * (1.0 + one.abs()), "{case}: {one} for {two}");
        }
    }

    #[test]
    fn a_coordinate_without_mass_is_no_pivot() {
        use super::super::Said;
        let link = |parent, column| Said { parent, columns: vec![column], has_rest: false };
        // The second turns about the axis of the first, which carries nothing itself.
        let bodies = Bodies::new(2, true, &[link(None, 0), link(Some(0), 1)]).expect("a tree");
        let mut values = vec![1.0, 1.0];
        values.extend([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        values.extend([0.0, 0.0, 1.0, 0.0, 1.0, 0.3, 0.0, 0.0, 1.0]);
        assert!(!Articulated::default().factor(&bodies, &values));
    }
}
