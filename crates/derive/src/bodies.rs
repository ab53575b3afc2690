//! Γ of bodies along a tree, as the numbers that recursions go by instead of its entries.
//!
//! ```text
//! w_k = X_k w_p + S_k q̇_k ,   Γ = Γ₀ + Σ_k J_kᵀ 𝓜_k J_k ,   w_k = J_k q̇
//! ```
//!
//! for a system whose kinetic energy is that of the links of its tree, and else of terms in the
//! velocities of one link (what makes Γ definite where a quaternion turns one). Each Γ_ij with j on the
//! path from i to the root is an expression of all that is between them: of a chain of n links there are
//! n²/2 such, while S, 𝓜 and the way from link to link are a few for each. The diagonal is there too,
//!
//! ```text
//! Γ_ii = S_iᵀ 𝓜ᶜ_k S_i + Γ₀_ii ,   𝓜ᶜ_k: of k and all that it carries as one rigid body
//! ```
//!
//! which gives units and sizes (Featherstone, *Rigid Body Dynamics Algorithms*, §6.2). The order of the
//! numbers is that of `dalembert_gauss::bodies`.

use dalembert_expr::{Expr, ExprId, Exprs, Jacobian, Symbol, SymbolKind};
use dalembert_model::system::{Energy, Link, Stands, Step, System};
use rustc_hash::FxHashMap;

/// Matrices with fewer columns are dense.
pub const LARGE: usize = 64;
/// As are those with more than this part of their entries.
pub const SPARSE: f64 = 0.125;
/// From so many coordinates on the passes along a tree cost less than its entries: of chains of 8, 10, 12
/// and 16 joints 1.02, 0.56, 0.39 and 0.19 times as much, with a loop 1.25, 0.84, 0.40 and 0.25 times.
pub const SLOW: usize = 12;

/// Bodies along a tree.
#[derive(Clone, Debug)]
pub struct BodyTree {
    /// Whether all is in the plane.
    pub is_plane: bool,
    /// Parents first.
    pub links: Vec<BodyLink>,
    /// Γ_ii.
    pub diagonal: Vec<ExprId>,
}

/// A link of a [`BodyTree`], in inertial axes.
#[derive(Clone, Debug)]
pub struct BodyLink {
    /// Its parent.
    pub parent: Option<usize>,
    /// Its coordinates.
    pub columns: Vec<usize>,
    /// Way from the parent's reference point to its own, from there to the mass center, mass, moments
    /// about the mass center, S by columns, Γ₀ by rows if there is one.
    pub numbers: Vec<ExprId>,
    /// Whether there is a Γ₀.
    pub has_rest: bool,
}

impl BodyTree {
    /// The bodies of a system, where its Γ is large and would be dense.
    pub fn of_large(exprs: &Exprs, system: &System) -> Option<BodyTree> {
        BodyTree::from(LARGE, exprs, system)
    }

    /// The bodies of a system of so many coordinates at least, where its Γ would be dense.
    pub(crate) fn from(least: usize, exprs: &Exprs, system: &System) -> Option<BodyTree> {
        let n = system.n_coordinates();
        let links = &system.tree.links;
        if n < least || links.is_empty() {
            return None;
        }
        // On the path of each coordinate are those of its link and of all links that carry it.
        let (mut above, mut entries) = (vec![0; links.len()], 0);
        for (k, link) in links.iter().enumerate() {
            let parent = parent(system, link)?;
            let own = link.steps.as_ref()?.columns.len();
            let before = parent.map_or(0, |p| above[p]);
            above[k] = before + own;
            entries += own * (2 * before + own);
        }
        if entries as f64 <= SPARSE * (n * n) as f64 {
            return None;
        }
        BodyTree::of(exprs, system)
    }

    /// The bodies of a system of any size.
    pub fn of(exprs: &Exprs, system: &System) -> Option<BodyTree> {
        if !matches!(system.energy, Energy::Lagrangian { .. }) {
            return None;
        }
        let n = system.n_coordinates();
        let is_plane = system.tree.links.first()?.origin.len() == 2;
        let mut owner = vec![None; n];
        for (k, link) in system.tree.links.iter().enumerate() {
            let (steps, dimension) = (link.steps.as_ref()?, link.origin.len());
            if (dimension == 2) != is_plane || link.position.len() != dimension {
                return None;
            }
            for step in &steps.columns {
                if owner[step.coordinate].replace(k).is_some() {
                    return None;
                }
            }
        }
        // What no link is moved by is by itself.
        let count = system.tree.links.len();
        let alone: Vec<usize> = (0..n).filter(|&i| owner[i].is_none()).collect();
        alone.iter().enumerate().for_each(|(k, &i)| owner[i] = Some(count + k));
        let rest = rest(exprs, system, &owner)?;
        let mut links = Vec::with_capacity(count + alone.len());
        for link in &system.tree.links {
            let parent = parent(system, link)?;
            links.push(body_link(exprs, system, link, parent, &rest)?);
        }
        for &i in &alone {
            let spatial = if is_plane { 3 } else { 6 };
            let head = if is_plane { 6 } else { 13 };
            let mut numbers = vec![ExprId::ZERO; head + spatial];
            numbers.push(rest.get(i, i));
            links.push(BodyLink { parent: None, columns: vec![i], numbers, has_rest: true });
        }
        let diagonal = diagonal(exprs, n, is_plane, &links);
        Some(BodyTree { is_plane, links, diagonal })
    }

    /// Γ_ii as a matrix.
    pub fn diagonal_matrix(&self) -> Jacobian {
        let rows = self.diagonal.iter().enumerate();
        Jacobian { rows: rows.map(|(i, &e)| vec![(i, e)]).collect(), columns: self.diagonal.len() }
    }

    /// Visits every expression.
    pub(crate) fn each(&mut self, visit: &mut dyn FnMut(&mut [ExprId])) {
        visit(&mut self.diagonal);
        self.links.iter_mut().for_each(|link| visit(&mut link.numbers));
    }
}

/// F of the bodies along a tree: what their inertia, where q̈ = 0, and their weight do along each
/// coordinate. Outward the motion, inward the wrenches (Newton and Euler; Featherstone, §5.3):
///
/// ```text
/// α = α_p + ω_p × W + Ẇ ,   a = a_p + α_p × r + ω_p × (ω_p × r) + 2 ω_p × u + u̇
/// f = m (a_c − g) ,   τ = c × f + J α + ω × J ω ,   F_i = −S_iᵀ Σ (f, τ)
/// ```
///
/// with (u, W) what the joint does and (u̇, Ẇ) how that changes. It is L_q − D L_q̇ of their energies,
/// and a fraction of it. `None` where masses, attachments or joints are moved by time.
pub fn force(exprs: &Exprs, system: &System, tree: &BodyTree) -> Option<Vec<ExprId>> {
    let at = |id: ExprId| exprs.at(id);
    let d = if tree.is_plane { 2 } else { 3 };
    let zero = [ExprId::ZERO; 3];
    let linear = |list: &[ExprId]| -> [ExprId; 3] {
        std::array::from_fn(|i| if i < d { list[i] } else { ExprId::ZERO })
    };
    let angular = |list: &[ExprId]| -> [ExprId; 3] {
        match tree.is_plane {
            true => [ExprId::ZERO, ExprId::ZERO, list[0]],
            false => [list[0], list[1], list[2]],
        }
    };
    let cross = |a: &[ExprId; 3], b: &[ExprId; 3]| -> [ExprId; 3] {
        let x = |i: usize, k: usize| (at(a[i]) * at(b[k]) - at(a[k]) * at(b[i])).id;
        [x(1, 2), x(2, 0), x(0, 1)]
    };
    let sum = |terms: &[[ExprId; 3]]| -> [ExprId; 3] {
        [0, 1, 2].map(|i| exprs.sum(&terms.iter().map(|t| t[i]).collect::<Vec<_>>()))
    };
    let scaled = |v: &[ExprId; 3], by: ExprId| v.map(|x| (at(x) * at(by)).id);
    let dot =
        |a: &[ExprId; 3], b: &[ExprId; 3]| exprs.sum(&[0, 1, 2].map(|i| (at(a[i]) * at(b[i])).id));
    let links = &system.tree.links;
    // ω, α, a of the links, then the wrench on each.
    let mut motions: Vec<[[ExprId; 3]; 3]> = Vec::with_capacity(links.len());
    let mut wrenches: Vec<[Vec<[ExprId; 3]>; 2]> = Vec::with_capacity(links.len());
    for (link, own) in links.iter().zip(&tree.links) {
        let constants = [link.mass].into_iter().chain(link.inertia.iter().copied());
        let symbols = exprs.symbols_of(&constants.collect::<Vec<_>>());
        let is_constant = |s: &Symbol| exprs.symbol_info(*s).kind == SymbolKind::Constant;
        if !symbols.iter().all(is_constant) {
            return None;
        }
        let moving = link.steps.as_ref()?.motion.as_ref()?;
        let (u, w) = (linear(&moving.twist), angular(&moving.twist[d..]));
        let (du, dw) = (linear(&moving.drift), angular(&moving.drift[d..]));
        let [omega, alpha, a] = match own.parent {
            None => [w, dw, du],
            Some(parent) => {
                let [omega, alpha, a] = &motions[parent];
                let r = linear(&own.numbers);
                let swept = cross(omega, &cross(omega, &r));
                let coriolis = scaled(&cross(omega, &u), exprs.integer(2).id);
                [
                    sum(&[*omega, w]),
                    sum(&[*alpha, cross(omega, &w), dw]),
                    sum(&[*a, cross(alpha, &r), swept, coriolis, du]),
                ]
            }
        };
        motions.push([omega, alpha, a]);
        let (mut f, mut torque) = (zero, zero);
        if link.mass != ExprId::ZERO {
            let c = linear(&own.numbers[d..]);
            let mut of_center = vec![a, cross(&alpha, &c), cross(&omega, &cross(&omega, &c))];
            if !link.gravity.is_empty() {
                of_center.push(linear(&link.gravity).map(|g| (-at(g)).id));
            }
            f = scaled(&sum(&of_center), link.mass);
            torque = cross(&c, &f);
        }
        let moments = &own.numbers[2 * d + 1..];
        let j: [[ExprId; 3]; 3] = match tree.is_plane {
            true => [zero, zero, [ExprId::ZERO, ExprId::ZERO, moments[0]]],
            false => [
                [moments[0], moments[3], moments[4]],
                [moments[3], moments[1], moments[5]],
                [moments[4], moments[5], moments[2]],
            ],
        };
        let turned = |v: &[ExprId; 3]| [0, 1, 2].map(|i| dot(&j[i], v));
        let torque = sum(&[torque, turned(&alpha), cross(&omega, &turned(&omega))]);
        wrenches.push([vec![f], vec![torque]]);
    }
    let mut force = vec![ExprId::ZERO; system.n_coordinates()];
    for (k, link) in links.iter().enumerate().rev() {
        let [f, torque] = [sum(&wrenches[k][0]), sum(&wrenches[k][1])];
        for step in &link.steps.as_ref()?.columns {
            let (v, w) = (linear(&step.linear), angular(&step.angular));
            let along = at(dot(&v, &f)) + at(dot(&w, &torque));
            force[step.coordinate] = (-along).id;
        }
        if let Some(parent) = tree.links[k].parent {
            let r = linear(&tree.links[k].numbers);
            let lever = cross(&r, &f);
            wrenches[parent][0].push(f);
            wrenches[parent][1].extend([torque, lever]);
        }
    }
    Some(force)
}

/// What carries a link; `None` where something else than links does.
fn parent(system: &System, link: &Link) -> Option<Option<usize>> {
    match link.stands {
        Stands::Placed | Stands::Free(_) => Some(None),
        Stands::On(parent) => Some(parent),
        Stands::Carried(joint) => Some(system.tree.joints.get(joint)?.sides[0]),
    }
}

/// Γ₀, if each of its terms is in the velocities of one link.
fn rest(exprs: &Exprs, system: &System, owner: &[Option<usize>]) -> Option<Jacobian> {
    let velocities = system.velocities();
    let place: FxHashMap<Symbol, usize> =
        velocities.iter().enumerate().map(|(i, &s)| (s, i)).collect();
    let mut terms = Vec::new();
    for &term in &system.tree.others {
        let symbols = exprs.symbols_of(&[term]);
        let mut owners = symbols.iter().filter_map(|s| place.get(s)).map(|&i| owner[i]);
        let Some(first) = owners.next() else { continue };
        if owners.any(|other| other != first) {
            return None;
        }
        terms.push(term);
    }
    let momenta = exprs.gradient(exprs.sum(&terms), &velocities);
    let rest = exprs.jacobian(&momenta, &velocities);
    crate::matrix::is_free_of(exprs, &rest, &velocities).then_some(rest)
}

fn body_link(
    exprs: &Exprs,
    system: &System,
    link: &Link,
    parent: Option<usize>,
    rest: &Jacobian,
) -> Option<BodyLink> {
    let steps = link.steps.as_ref()?;
    let n = link.origin.len();
    let at = |id: ExprId| exprs.at(id);
    let add = |a: &[ExprId], b: &[ExprId]| -> Vec<ExprId> {
        a.iter().zip(b).map(|(&a, &b)| (at(a) + at(b)).id).collect()
    };
    let mut numbers = match parent {
        Some(parent) => {
            let before = system.tree.links[parent].steps.as_ref()?;
            add(&before.to_origin, &steps.from_parent)
        }
        None => vec![ExprId::ZERO; n],
    };
    let center: Vec<ExprId> = match link.rotation.is_empty() {
        true => vec![ExprId::ZERO; n],
        false => {
            let rows = link.rotation.chunks(n);
            rows.map(|row| {
                let parts = row.iter().zip(&link.center).map(|(&r, &c)| (at(r) * at(c)).id);
                exprs.sum(&parts.collect::<Vec<_>>())
            })
            .collect()
        }
    };
    numbers.extend(add(&steps.to_origin, &center));
    numbers.push(link.mass);
    numbers.extend(moments(exprs, link));
    for Step { linear, angular, .. } in &steps.columns {
        numbers.extend(linear.iter().chain(angular));
    }
    let columns: Vec<usize> = steps.columns.iter().map(|step| step.coordinate).collect();
    let has_rest = columns.iter().any(|&i| !rest.rows[i].is_empty());
    if has_rest {
        for &i in &columns {
            numbers.extend(columns.iter().map(|&j| rest.get(i, j)));
        }
    }
    Some(BodyLink { parent, columns, numbers, has_rest })
}

/// J = R I Rᵀ: xx, yy, zz, xy, xz, yz; in the plane the one there is.
fn moments(exprs: &Exprs, link: &Link) -> Vec<ExprId> {
    const SIX: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
    let at = |id: ExprId| exprs.at(id);
    let r = |i: usize, k: usize| at(link.rotation[3 * i + k]);
    let inertia = |i: usize, k: usize| at(link.inertia[3 * i + k]);
    match (link.inertia.len(), link.origin.len()) {
        (1, _) => link.inertia.clone(),
        (9, _) if link.inertia.iter().all(|&e| e == ExprId::ZERO) => vec![ExprId::ZERO; 6],
        (9, _) => {
            let is_diagonal = (0..9).all(|k| k % 4 == 0 || link.inertia[k] == ExprId::ZERO);
            if is_diagonal {
                // I₁ 1 + (I₂ − I₁) r₂r₂ᵀ + (I₃ − I₁) r₃r₃ᵀ, with two equal ones or none as the first.
                let own = [0, 1, 2].map(|k| link.inertia[4 * k]);
                let first = (0..3).find(|&k| own.iter().filter(|&&e| e == own[k]).count() > 1);
                let first = first.unwrap_or(0);
                return SIX
                    .iter()
                    .map(|&(i, j)| {
                        let mut entry = if i == j { at(own[first]) } else { exprs.integer(0) };
                        for k in (0..3).filter(|&k| own[k] != own[first]) {
                            entry = entry + (at(own[k]) - at(own[first])) * (r(i, k) * r(j, k));
                        }
                        entry.id
                    })
                    .collect();
            }
            fn sum(terms: [Expr<'_>; 3]) -> Expr<'_> {
                terms[0] + terms[1] + terms[2]
            }
            let turned = |i: usize, k: usize| sum([0, 1, 2].map(|l| r(i, l) * inertia(l, k)));
            SIX.iter().map(|&(i, j)| sum([0, 1, 2].map(|k| turned(i, k) * r(j, k))).id).collect()
        }
        (_, 2) => vec![ExprId::ZERO],
        _ => vec![ExprId::ZERO; 6],
    }
}

/// Γ_ii, by composite bodies from the leaves inward.
fn diagonal(exprs: &Exprs, n: usize, is_plane: bool, links: &[BodyLink]) -> Vec<ExprId> {
    let d = if is_plane { 2 } else { 3 };
    let angular = if is_plane { 1 } else { 3 };
    let spatial = d + angular;
    let head = if is_plane { 6 } else { 13 };
    let at = |id: ExprId| exprs.at(id);
    let dot = |a: &[ExprId], b: &[ExprId]| {
        let parts: Vec<ExprId> = a.iter().zip(b).map(|(&a, &b)| (at(a) * at(b)).id).collect();
        exprs.sum(&parts)
    };
    // Mass, first moments, second moments about the reference point as they stand in `numbers`.
    let mut sums: Vec<Vec<Vec<ExprId>>> = vec![Vec::new(); links.len()];
    let mut diagonal = vec![ExprId::ZERO; n];
    let pairs: &[(usize, usize)] = match is_plane {
        true => &[(0, 0)],
        false => &[(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)],
    };
    // Second moments of a mass with these first moments at x, twice over: x·h 1 − ½(x hᵀ + h xᵀ).
    let second = |x: &[ExprId], h: &[ExprId], (i, j): (usize, usize)| {
        if is_plane {
            return at(dot(x, h));
        }
        let mixed = (at(x[i]) * at(h[j]) + at(x[j]) * at(h[i])) / 2;
        if i == j { at(dot(x, h)) - mixed } else { -mixed }
    };
    for (k, link) in links.iter().enumerate().rev() {
        let (offset, arm) = (&link.numbers[..d], &link.numbers[d..2 * d]);
        let mass = at(link.numbers[2 * d]);
        let first: Vec<ExprId> = arm.iter().map(|&c| (mass * at(c)).id).collect();
        let moments = pairs.iter().enumerate().map(|(slot, &pair)| {
            (at(link.numbers[2 * d + 1 + slot]) + second(arm, &first, pair)).id
        });
        let own: Vec<ExprId> =
            [mass.id].into_iter().chain(first.iter().copied()).chain(moments).collect();
        let mut parts = std::mem::take(&mut sums[k]);
        parts.push(own);
        let total: Vec<ExprId> = (0..parts[0].len())
            .map(|slot| exprs.sum(&parts.iter().map(|part| part[slot]).collect::<Vec<_>>()))
            .collect();
        let (m, h, j) = (at(total[0]), &total[1..1 + d], &total[1 + d..]);
        for (slot, &column) in link.columns.iter().enumerate() {
            let step = &link.numbers[head + spatial * slot..][..spatial];
            let (v, w) = step.split_at(d);
            let swept = match is_plane {
                true => at(w[0]) * (at(v[1]) * at(h[0]) - at(v[0]) * at(h[1])),
                false => {
                    let x = |i: usize, k: usize| at(w[i]) * at(h[k]) - at(w[k]) * at(h[i]);
                    at(v[0]) * x(1, 2) + at(v[1]) * x(2, 0) + at(v[2]) * x(0, 1)
                }
            };
            let turned: Vec<ExprId> = pairs
                .iter()
                .zip(j)
                .map(|(&(a, b), &j)| {
                    let twice = if a == b { 1 } else { 2 };
                    (twice * at(j) * (at(w[a]) * at(w[b]))).id
                })
                .collect();
            let mut entry = m * at(dot(v, v)) + 2 * swept + at(exprs.sum(&turned));
            if link.has_rest {
                let count = link.columns.len();
                entry = entry + at(link.numbers[head + spatial * count + slot * (count + 1)]);
            }
            diagonal[column] = entry.id;
        }
        if let Some(parent) = link.parent {
            // About the parent's reference point.
            let moved: Vec<ExprId> =
                h.iter().zip(offset).map(|(&h, &r)| (at(h) + m * at(r)).id).collect();
            // J + 2 [r, h] + m [r, r] = J + [r, h] + [r, h'].
            let both: Vec<ExprId> =
                h.iter().zip(&moved).map(|(&h, &g)| (at(h) + at(g)).id).collect();
            let moments =
                pairs.iter().zip(j).map(|(&pair, &j)| (at(j) + second(offset, &both, pair)).id);
            let part: Vec<ExprId> =
                [m.id].into_iter().chain(moved.iter().copied()).chain(moments).collect();
            sums[parent].push(part);
        }
    }
    diagonal
}
