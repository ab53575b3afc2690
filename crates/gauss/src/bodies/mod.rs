//! Γ of bodies along a tree, never formed.
//!
//! Link k moves with its parent p and, beside that, by its own coordinates. With the twist
//! w = (velocity of its reference point, angular velocity), both in inertial axes,
//!
//! ```text
//! w_k = X_k w_p + S_k v̇_k       X_k: the same motion, seen at the reference point of k
//! Γ   = Γ₀ + Σ_k J_kᵀ 𝓜_k J_k    w_k = J_k v,  𝓜_k of link k about its reference point
//! ```
//!
//! and Γ₀ joins coordinates of one link only. Γ is dense along every path from the root to a leaf;
//! r_k, S_k and 𝓜_k are a few numbers a link. What is asked of Γ is answered by one pass outward and
//! one inward: Γ x here, Γ⁻¹ f by articulated inertias in [`articulated`] (Featherstone, *Rigid Body
//! Dynamics Algorithms*, ch. 7). The reference point of a link is next to it (at its joint), so that
//! digits are not lost far from the origin of the inertial frame.
//!
//! Numbers of it are one list: Γ_ii, then link by link
//!
//! ```text
//! r  from the parent's reference point to its own       c  from there to the mass center
//! m  mass       J  moments about the mass center in inertial axes: J_xx J_yy J_zz J_xy J_xz J_yz
//! S  a column of 6 for each coordinate       Γ₀  by rows, where there is any
//! ```
//!
//! with 2, 2, 1, 1 and columns of 3 in the plane.

pub mod articulated;
mod moving;

use moving::{Lever, Matrix, Spatial, inertia};

/// The parents of links, their coordinates, and where their numbers are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bodies {
    size: usize,
    is_plane: bool,
    links: Vec<Link>,
    columns: Vec<usize>,
    length: usize,
}

/// A link of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    parent: Option<usize>,
    /// The range of its coordinates in the list of all.
    first: usize,
    count: usize,
    /// Where its numbers begin, and S and Γ₀.
    at: usize,
    steps: usize,
    rest: Option<usize>,
}

/// What a link is said to be.
#[derive(Clone, Debug)]
pub struct Said {
    /// Its parent, which comes before it.
    pub parent: Option<usize>,
    /// Its own coordinates.
    pub columns: Vec<usize>,
    /// Whether there is a Γ₀.
    pub has_rest: bool,
}

/// How many numbers a link has before S.
const fn head(is_plane: bool) -> usize {
    if is_plane { 6 } else { 13 }
}

impl Bodies {
    /// A tree. `None` if a parent does not come before its child, or a coordinate is not that of
    /// one link.
    pub fn new(size: usize, is_plane: bool, said: &[Said]) -> Option<Bodies> {
        let spatial = if is_plane { 3 } else { 6 };
        let mut bodies = Bodies { size, is_plane, length: size, ..Bodies::default() };
        let mut is_seen = vec![false; size];
        for (k, link) in said.iter().enumerate() {
            if link.parent.is_some_and(|p| p >= k) {
                return None;
            }
            for &column in &link.columns {
                if column >= size || std::mem::replace(&mut is_seen[column], true) {
                    return None;
                }
            }
            let (at, count) = (bodies.length, link.columns.len());
            let steps = at + head(is_plane);
            let end = steps + spatial * count;
            let rest = link.has_rest.then_some(end);
            bodies.length = end + if link.has_rest { count * count } else { 0 };
            let first = bodies.columns.len();
            bodies.columns.extend(&link.columns);
            bodies.links.push(Link { parent: link.parent, first, count, at, steps, rest });
        }
        is_seen.iter().all(|seen| *seen).then_some(bodies)
    }

    /// How many coordinates there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many numbers the list has.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The rows and columns of some coordinates, in order: the others do not move.
    pub fn pick(&self, values: &[f64], chosen: &[usize]) -> (Bodies, Vec<f64>) {
        let mut place = vec![None; self.size];
        chosen.iter().enumerate().for_each(|(k, &i)| place[i] = Some(k));
        let spatial = if self.is_plane { 3 } else { 6 };
        let mut picked: Vec<f64> = chosen.iter().map(|&i| values[i]).collect();
        let mut said = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let own = self.columns_of(link);
            let kept: Vec<usize> = (0..link.count).filter(|&a| place[own[a]].is_some()).collect();
            picked.extend_from_slice(&values[link.at..link.steps]);
            for &a in &kept {
                picked.extend_from_slice(&values[link.steps + spatial * a..][..spatial]);
            }
            if let Some(rest) = link.rest {
                for &a in &kept {
                    picked.extend(kept.iter().map(|&b| values[rest + a * link.count + b]));
                }
            }
            said.push(Said {
                parent: link.parent,
                columns: kept.iter().filter_map(|&a| place[own[a]]).collect(),
                has_rest: link.rest.is_some(),
            });
        }
        let bodies = Bodies::new(chosen.len(), self.is_plane, &said);
        (bodies.expect("a part of a tree is one"), picked)
    }

    fn columns_of(&self, link: &Link) -> &[usize] {
        &self.columns[link.first..link.first + link.count]
    }

    /// Γ x.
    pub fn multiply(&self, values: &[f64], x: &[f64], out: &mut [f64]) {
        match self.is_plane {
            true => self.moved::<3, false>(values, x, out),
            false => self.moved::<6, false>(values, x, out),
        }
    }

    /// A bound on Σ_j |Γ_ij x_j|, by the sizes of all that is summed up on the way.
    pub fn spread(&self, values: &[f64], x: &[f64], out: &mut [f64]) {
        match self.is_plane {
            true => self.moved::<3, true>(values, x, out),
            false => self.moved::<6, true>(values, x, out),
        }
    }

    fn moved<const D: usize, const SIZES: bool>(&self, values: &[f64], x: &[f64], out: &mut [f64]) {
        let size = |v: f64| if SIZES { v.abs() } else { v };
        let mut twists: Vec<Spatial<D>> = Vec::with_capacity(self.links.len());
        let mut wrenches: Vec<Spatial<D>> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let lever = Lever::<D>::of(values, link.at).sized(SIZES);
            let mut twist = match link.parent {
                Some(parent) => lever.carry(&twists[parent]),
                None => [0.0; D],
            };
            for (column, step) in self.steps_of::<D>(link, values) {
                for i in 0..D {
                    twist[i] += size(step[i]) * size(x[column]);
                }
            }
            let own: Matrix<D> = inertia(&values[link.at..]);
            wrenches.push(std::array::from_fn(|i| {
                (0..D).map(|j| size(own[i][j]) * twist[j]).sum::<f64>()
            }));
            twists.push(twist);
        }
        for k in (0..self.links.len()).rev() {
            let link = &self.links[k];
            let wrench = wrenches[k];
            for (column, step) in self.steps_of::<D>(link, values) {
                out[column] = (0..D).map(|i| size(step[i]) * wrench[i]).sum::<f64>();
            }
            if let Some(rest) = link.rest {
                let columns = self.columns_of(link);
                for (i, &row) in columns.iter().enumerate() {
                    let entries = &values[rest + i * link.count..][..link.count];
                    let own = entries.iter().zip(columns);
                    out[row] += own.map(|(g, &j)| size(*g) * size(x[j])).sum::<f64>();
                }
            }
            if let Some(parent) = link.parent {
                let lever = Lever::<D>::of(values, link.at).sized(SIZES);
                lever.give(&wrench, &mut wrenches[parent]);
            }
        }
    }

    /// The columns of S with their coordinates.
    fn steps_of<'a, const D: usize>(
        &'a self,
        link: &Link,
        values: &'a [f64],
    ) -> impl Iterator<Item = (usize, &'a [f64])> {
        let steps = &values[link.steps..link.steps + D * link.count];
        self.columns_of(link).iter().copied().zip(steps.chunks_exact(D))
    }

    /// A row of Γ.
    pub fn row(&self, values: &[f64], i: usize) -> Vec<f64> {
        let (mut unit, mut row) = (vec![0.0; self.size], vec![0.0; self.size]);
        unit[i] = 1.0;
        self.multiply(values, &unit, &mut row);
        row
    }

    /// Γ by rows, with all its entries.
    pub fn dense(&self, values: &[f64]) -> Vec<f64> {
        let n = self.size;
        let mut full = vec![0.0; n * n];
        let mut unit = vec![0.0; n];
        for (i, row) in full.chunks_exact_mut(n.max(1)).enumerate() {
            unit[i] = 1.0;
            self.multiply(values, &unit, row);
            unit[i] = 0.0;
        }
        // One number for both places, as each pass rounds by itself.
        for i in 0..n {
            for j in 0..i {
                full[i * n + j] = full[j * n + i];
            }
        }
        full
    }

    /// Bounds on the rounding of the entries of a dense Γ, as ε |Γ_ii Γ_jj|^½ times what is summed.
    pub fn dense_noise(&self, values: &[f64]) -> Vec<f64> {
        let n = self.size;
        let roots: Vec<f64> = values[..n].iter().map(|g| g.abs().sqrt()).collect();
        let each = 4.0 * f64::EPSILON;
        roots.iter().flat_map(|a| roots.iter().map(move |b| each * a * b)).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) struct Random(pub u64);

    impl Random {
        pub(crate) fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }

        pub(crate) fn below(&mut self, n: usize) -> usize {
            ((self.next() + 1.0) / 2.0 * n as f64) as usize % n.max(1)
        }
    }

    /// A random tree with its numbers; Γ_ii are those of the dense Γ.
    pub(crate) fn random(random: &mut Random, links: usize, is_plane: bool) -> (Bodies, Vec<f64>) {
        let (mut said, mut n) = (Vec::new(), 0);
        for k in 0..links {
            let parent = (k > 0 && random.next() > -0.9).then(|| random.below(k));
            let count = match random.below(6) {
                0 => 0,
                1 => 2,
                2 => 3,
                _ => 1,
            };
            let has_rest = random.next() > 0.5 && count > 0;
            said.push(Said { parent, columns: (n..n + count).collect(), has_rest });
            n += count;
        }
        // Not in the order of links.
        let swap = n / 2;
        for link in &mut said {
            link.columns.iter_mut().for_each(|c| *c = (*c + swap) % n.max(1));
        }
        let bodies = Bodies::new(n, is_plane, &said).expect("a tree");
        let mut values: Vec<f64> = (0..bodies.length()).map(|_| random.next()).collect();
        for link in &bodies.links {
            let d = if is_plane { 2 } else { 3 };
            values[link.at + 2 * d] = 0.2 + random.next().abs();
            let moments = link.at + 2 * d + 1;
            match is_plane {
                true => values[moments] = 0.2 + random.next().abs(),
                false => {
                    let j: [f64; 9] = std::array::from_fn(|_| random.next());
                    let at = |i: usize, k: usize| -> f64 {
                        let own = if i == k { 0.1 } else { 0.0 };
                        own + (0..3).map(|l| j[3 * i + l] * j[3 * k + l]).sum::<f64>()
                    };
                    let six = [at(0, 0), at(1, 1), at(2, 2), at(0, 1), at(0, 2), at(1, 2)];
                    values[moments..moments + 6].copy_from_slice(&six);
                }
            }
            if let Some(rest) = link.rest {
                let j: Vec<f64> = (0..link.count * link.count).map(|_| random.next()).collect();
                for a in 0..link.count {
                    for b in 0..link.count {
                        values[rest + a * link.count + b] = (0..link.count)
                            .map(|l| j[a * link.count + l] * j[b * link.count + l])
                            .sum();
                    }
                }
            }
        }
        let full = bodies.dense(&values);
        (0..n).for_each(|i| values[i] = full[i * n + i]);
        (bodies, values)
    }

    /// J_kᵀ 𝓜_k J_k with dense J_k, twists at the origin of the inertial frame by way of positions.
    fn literal(bodies: &Bodies, values: &[f64]) -> Vec<f64> {
        let n = bodies.size;
        let mut full = vec![0.0; n * n];
        let space = |list: &[f64]| -> [f64; 3] {
            if bodies.is_plane { [list[0], list[1], 0.0] } else { [list[0], list[1], list[2]] }
        };
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let d = if bodies.is_plane { 2 } else { 3 };
        let spatial = if bodies.is_plane { 3 } else { 6 };
        let mut places: Vec<[f64; 3]> = Vec::new();
        for link in &bodies.links {
            let r = space(&values[link.at..]);
            let base = link.parent.map_or([0.0; 3], |p| places[p]);
            places.push([0, 1, 2].map(|i| base[i] + r[i]));
        }
        for (k, link) in bodies.links.iter().enumerate() {
            let c = space(&values[link.at + d..]);
            let center: [f64; 3] = [0, 1, 2].map(|i| places[k][i] + c[i]);
            let m = values[link.at + 2 * d];
            let j = &values[link.at + 2 * d + 1..];
            let moments = match bodies.is_plane {
                true => [[0.0; 3], [0.0; 3], [0.0, 0.0, j[0]]],
                false => [[j[0], j[3], j[4]], [j[3], j[1], j[5]], [j[4], j[5], j[2]]],
            };
            let mut columns = vec![([0.0; 3], [0.0; 3]); n];
            let mut next = Some(k);
            while let Some(at) = next {
                let own = &bodies.links[at];
                for (slot, &column) in bodies.columns_of(own).iter().enumerate() {
                    let step = &values[own.steps + spatial * slot..];
                    let (v, w) = match bodies.is_plane {
                        true => ([step[0], step[1], 0.0], [0.0, 0.0, step[2]]),
                        false => ([step[0], step[1], step[2]], [step[3], step[4], step[5]]),
                    };
                    let arm = [0, 1, 2].map(|i| center[i] - places[at][i]);
                    let swept = cross(w, arm);
                    columns[column] = ([0, 1, 2].map(|i| v[i] + swept[i]), w);
                }
                next = own.parent;
            }
            for a in 0..n {
                for b in 0..n {
                    let ((va, wa), (vb, wb)) = (columns[a], columns[b]);
                    let mut sum: f64 = (0..3).map(|i| m * va[i] * vb[i]).sum();
                    for i in 0..3 {
                        sum += (0..3).map(|l| wa[i] * moments[i][l] * wb[l]).sum::<f64>();
                    }
                    full[a * n + b] += sum;
                }
            }
            if let Some(rest) = link.rest {
                let own = bodies.columns_of(link);
                for (a, &row) in own.iter().enumerate() {
                    for (b, &column) in own.iter().enumerate() {
                        full[row * n + column] += values[rest + a * link.count + b];
                    }
                }
            }
        }
        full
    }

    #[test]
    fn the_metric_is_that_of_all_bodies() {
        let mut seed = Random(11);
        for case in 0..200 {
            let (bodies, values) = random(&mut seed, 1 + case % 9, case % 2 == 0);
            let (one, two) = (bodies.dense(&values), literal(&bodies, &values));
            let most = two.iter().fold(1f64, |m, x| m.max(x.abs()));
            for (a, b) in one.iter().zip(&two) {
                assert!((a - b).abs() <= 1e-13 * most, "{case}: {a} for {b}");
            }
            let n = bodies.size();
            let chosen: Vec<usize> = (0..n).filter(|i| i % 3 != 1).collect();
            let (part, picked) = bodies.pick(&values, &chosen);
            let part = part.dense(&picked);
            for (a, &i) in chosen.iter().enumerate() {
                for (b, &j) in chosen.iter().enumerate() {
                    let off = part[a * chosen.len() + b] - one[i * n + j];
                    assert!(off.abs() <= 1e-13 * most, "{case}: {off}");
                }
            }
            let x: Vec<f64> = (0..n).map(|_| seed.next()).collect();
            let mut bound = vec![0.0; n];
            bodies.spread(&values, &x, &mut bound);
            for i in 0..n {
                let sum: f64 = (0..n).map(|j| (two[i * n + j] * x[j]).abs()).sum();
                assert!(sum <= bound[i] * (1.0 + 1e-12) + 1e-13 * most, "{case}: {sum}");
            }
        }
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let link =
            |parent, columns: &[usize]| Said { parent, columns: columns.to_vec(), has_rest: false };
        assert!(Bodies::new(2, true, &[link(None, &[0]), link(Some(0), &[1])]).is_some());
        assert!(Bodies::new(2, true, &[link(None, &[0]), link(Some(1), &[1])]).is_none());
        assert!(Bodies::new(2, true, &[link(None, &[0]), link(Some(0), &[0])]).is_none());
        assert!(Bodies::new(2, true, &[link(None, &[0])]).is_none());
    }
}
