//! Scalars, vectors and matrices of expressions, and rigid rotations.
//!
//! A rotation matrix made by [`Tensor::rotation`] or [`Tensor::quaternion`], or
//! a product of such, carries its angular velocity along: for R = R₁R₂ that is
//! ω = ω₁ + R₁ω₂. Differentiating the matrix and taking the axial part of R′Rᵀ
//! gives the same vector, but as an expression that only collapses after every
//! sin² + cos² in it has been found.

use dalembert_expr::{ExprId, Exprs, Function};
use std::sync::Arc;

/// What an expression of the language evaluates to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tensor {
    /// A single expression.
    Scalar(ExprId),
    /// A vector.
    Vector(Arc<[ExprId]>),
    /// A matrix, row by row.
    Matrix {
        /// How many columns.
        columns: usize,
        /// The entries.
        data: Arc<[ExprId]>,
        /// The angular velocity, if it is known to be a rotation.
        spin: Option<Arc<Spin>>,
    },
}

/// The angular velocity of a rotation matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spin {
    /// In inertial axes: the axial vector of R′Rᵀ.
    pub inertial: [ExprId; 3],
    /// In body axes: the axial vector of RᵀR′.
    pub body: [ExprId; 3],
}

/// An axis of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
}

impl Tensor {
    pub fn vector(data: Vec<ExprId>) -> Tensor {
        Tensor::Vector(data.into())
    }

    pub fn matrix(columns: usize, data: Vec<ExprId>) -> Tensor {
        Tensor::Matrix { columns, data: data.into(), spin: None }
    }

    /// [] for a scalar, [n] for a vector, [rows, columns] for a matrix.
    pub fn shape(&self) -> Vec<usize> {
        match self {
            Tensor::Scalar(_) => vec![],
            Tensor::Vector(data) => vec![data.len()],
            Tensor::Matrix { columns, data, .. } => vec![data.len() / columns.max(&1), *columns],
        }
    }

    pub fn with_shape(shape: &[usize], data: Vec<ExprId>) -> Tensor {
        match shape {
            [] => Tensor::Scalar(data.first().copied().unwrap_or(ExprId::ZERO)),
            [_] => Tensor::vector(data),
            [_, columns, ..] => Tensor::matrix(*columns, data),
        }
    }

    pub fn components(&self) -> &[ExprId] {
        match self {
            Tensor::Scalar(id) => std::slice::from_ref(id),
            Tensor::Vector(data) => data,
            Tensor::Matrix { data, .. } => data,
        }
    }

    pub fn scalar(&self) -> Option<ExprId> {
        match self {
            Tensor::Scalar(id) => Some(*id),
            _ => None,
        }
    }

    /// The shape in words: "a scalar", "a vector of 3", "a 3×2 matrix".
    pub fn describe(&self) -> String {
        describe(&self.shape())
    }

    pub fn map(&self, mut f: impl FnMut(ExprId) -> ExprId) -> Tensor {
        let data = self.components().iter().map(|&e| f(e)).collect();
        Tensor::with_shape(&self.shape(), data)
    }

    /// The sum of tensors of equal shape, one or more.
    pub fn sum(exprs: &Exprs, terms: &[Tensor]) -> Tensor {
        let shape = terms[0].shape();
        let count = terms[0].components().len();
        let mut parts = Vec::with_capacity(terms.len());
        let data = (0..count)
            .map(|at| {
                parts.clear();
                parts.extend(terms.iter().map(|t| t.components()[at]));
                exprs.sum(&parts)
            })
            .collect();
        Tensor::with_shape(&shape, data)
    }

    pub fn scale(&self, exprs: &Exprs, factor: ExprId) -> Tensor {
        self.map(|e| (exprs.at(factor) * exprs.at(e)).id)
    }

    pub fn neg(&self, exprs: &Exprs) -> Tensor {
        self.map(|e| (-exprs.at(e)).id)
    }

    pub fn dot(exprs: &Exprs, a: &[ExprId], b: &[ExprId]) -> ExprId {
        let terms: Vec<ExprId> =
            a.iter().zip(b).map(|(&x, &y)| (exprs.at(x) * exprs.at(y)).id).collect();
        exprs.sum(&terms)
    }

    /// The vector product in space.
    pub fn cross(exprs: &Exprs, a: &[ExprId], b: &[ExprId]) -> [ExprId; 3] {
        let x = |i: usize, j: usize| {
            (exprs.at(a[i]) * exprs.at(b[j]) - exprs.at(a[j]) * exprs.at(b[i])).id
        };
        [x(1, 2), x(2, 0), x(0, 1)]
    }

    /// Matrix × matrix or matrix × vector; `None` if the shapes do not fit.
    pub fn matmul(&self, exprs: &Exprs, other: &Tensor) -> Option<Tensor> {
        let Tensor::Matrix { columns, data, spin } = self else { return None };
        match other {
            Tensor::Vector(v) if v.len() == *columns => Some(Tensor::vector(
                data.chunks(*columns).map(|row| Tensor::dot(exprs, row, v)).collect(),
            )),
            Tensor::Matrix { columns: inner, data: right, spin: other_spin }
                if right.len() == columns * inner =>
            {
                let mut out = Vec::with_capacity(data.len() / columns * inner);
                for row in data.chunks(*columns) {
                    for j in 0..*inner {
                        let column: Vec<ExprId> =
                            right.iter().skip(j).step_by(*inner).copied().collect();
                        out.push(Tensor::dot(exprs, row, &column));
                    }
                }
                let spin = match (spin, other_spin) {
                    (Some(a), Some(b)) => Some(Arc::new(compose(exprs, data, a, right, b))),
                    _ => None,
                };
                Some(Tensor::Matrix { columns: *inner, data: out.into(), spin })
            }
            _ => None,
        }
    }

    /// The transpose of a matrix; of a rotation, the inverse rotation.
    pub fn transpose(&self, exprs: &Exprs) -> Option<Tensor> {
        let Tensor::Matrix { columns, data, spin } = self else { return None };
        let rows = data.len() / columns.max(&1);
        let turned: Vec<ExprId> =
            (0..data.len()).map(|at| data[(at % rows) * columns + at / rows]).collect();
        let minus = |v: &[ExprId; 3]| v.map(|e| (-exprs.at(e)).id);
        // Rᵀ turns with −ω seen from the body, and the other way round.
        let spin = spin
            .as_ref()
            .map(|s| Arc::new(Spin { inertial: minus(&s.body), body: minus(&s.inertial) }));
        Some(Tensor::Matrix { columns: rows, data: turned.into(), spin })
    }

    /// The right-handed rotation about an axis, taking body components to
    /// inertial ones. `rate` is the angle's time derivative, where it is known.
    pub fn rotation(exprs: &Exprs, axis: Axis, angle: ExprId, rate: Option<ExprId>) -> Tensor {
        let (c, s) = (exprs.call(Function::Cos, &[angle]), exprs.call(Function::Sin, &[angle]));
        let m = (-exprs.at(s)).id;
        let (one, zero) = (ExprId::ONE, ExprId::ZERO);
        let (data, place) = match axis {
            Axis::X => ([one, zero, zero, zero, c, m, zero, s, c], 0),
            Axis::Y => ([c, zero, s, zero, one, zero, m, zero, c], 1),
            Axis::Z => ([c, m, zero, s, c, zero, zero, zero, one], 2),
        };
        let spin = rate.map(|rate| {
            let mut omega = [zero; 3];
            omega[place] = rate;
            Arc::new(Spin { inertial: omega, body: omega })
        });
        Tensor::Matrix { columns: 3, data: data.to_vec().into(), spin }
    }

    /// The right-handed rotation about a unit vector, R = cos 1 + sin [n]× + (1 − cos) n nᵀ; for an
    /// axis of the frame as it is written there.
    pub fn about(exprs: &Exprs, n: &[ExprId; 3], angle: ExprId, rate: Option<ExprId>) -> Tensor {
        let negative = (-exprs.at(ExprId::ONE)).id;
        for (k, axis) in [Axis::X, Axis::Y, Axis::Z].into_iter().enumerate() {
            if (0..3).any(|i| i != k && n[i] != ExprId::ZERO) {
                continue;
            }
            if n[k] == ExprId::ONE {
                return Tensor::rotation(exprs, axis, angle, rate);
            }
            if n[k] == negative {
                let minus = |e: ExprId| (-exprs.at(e)).id;
                return Tensor::rotation(exprs, axis, minus(angle), rate.map(minus));
            }
        }
        let (c, s) = (
            exprs.at(exprs.call(Function::Cos, &[angle])),
            exprs.at(exprs.call(Function::Sin, &[angle])),
        );
        let v = n.map(|e| exprs.at(e));
        let data: Vec<ExprId> = (0..9)
            .map(|at| {
                let (i, j) = (at / 3, at % 3);
                let both = (1 - c) * v[i] * v[j];
                if i == j {
                    return (c + both).id;
                }
                // [n]× has ∓ the third component beside its diagonal.
                let third = s * v[3 - i - j];
                if (i + 1) % 3 == j { (both - third).id } else { (both + third).id }
            })
            .collect();
        let spin = rate.map(|rate| {
            let omega = v.map(|component| (component * exprs.at(rate)).id);
            Arc::new(Spin { inertial: omega, body: omega })
        });
        Tensor::Matrix { columns: 3, data: data.into(), spin }
    }

    /// The rotation of the quaternion e/|e|, scalar part first. With
    /// e = (w, u): ω = 2(w u′ − w′ u ± u × u′)/|e|², + in inertial axes.
    pub fn quaternion(exprs: &Exprs, e: &[ExprId; 4], rates: Option<[ExprId; 4]>) -> Tensor {
        let [w, x, y, z] = e.map(|id| exprs.at(id));
        let square = w.powi(2) + x.powi(2) + y.powi(2) + z.powi(2);
        let entries = [
            w.powi(2) + x.powi(2) - y.powi(2) - z.powi(2),
            2 * (x * y - w * z),
            2 * (x * z + w * y),
            2 * (x * y + w * z),
            w.powi(2) - x.powi(2) + y.powi(2) - z.powi(2),
            2 * (y * z - w * x),
            2 * (x * z - w * y),
            2 * (y * z + w * x),
            w.powi(2) - x.powi(2) - y.powi(2) + z.powi(2),
        ];
        let spin = rates.map(|rates| {
            let (u, du) = (&e[1..4], &rates[1..4]);
            let dw = exprs.at(rates[0]);
            let turn = Tensor::cross(exprs, u, du);
            let omega = |sign: i64| {
                [0, 1, 2].map(|i| {
                    let along = w * exprs.at(du[i]) - dw * exprs.at(u[i]);
                    (2 * (along + sign * exprs.at(turn[i])) / square).id
                })
            };
            Arc::new(Spin { inertial: omega(1), body: omega(-1) })
        });
        let data: Vec<ExprId> = entries.iter().map(|&entry| (entry / square).id).collect();
        Tensor::Matrix { columns: 3, data: data.into(), spin }
    }

    /// ½[S₃₂−S₂₃, S₁₃−S₃₁, S₂₁−S₁₂] of a 3×3 matrix.
    pub fn axial(exprs: &Exprs, data: &[ExprId]) -> [ExprId; 3] {
        let s = |i: usize, j: usize| exprs.at(data[3 * i + j]);
        [((s(2, 1) - s(1, 2)) / 2).id, ((s(0, 2) - s(2, 0)) / 2).id, ((s(1, 0) - s(0, 1)) / 2).id]
    }
}

/// ω = ω₁ + R₁ω₂ and, seen from the body, R₂ᵀω₁ + ω₂.
fn compose(exprs: &Exprs, first: &[ExprId], a: &Spin, second: &[ExprId], b: &Spin) -> Spin {
    let add = |x: ExprId, y: ExprId| (exprs.at(x) + exprs.at(y)).id;
    let inertial = [0, 1, 2]
        .map(|i| add(a.inertial[i], Tensor::dot(exprs, &first[3 * i..3 * i + 3], &b.inertial)));
    let body = [0, 1, 2].map(|i| {
        let column = [second[i], second[3 + i], second[6 + i]];
        add(Tensor::dot(exprs, &column, &a.body), b.body[i])
    });
    Spin { inertial, body }
}

pub(crate) fn describe(shape: &[usize]) -> String {
    match shape {
        [] => "a scalar".into(),
        [n] => format!("a vector of {n}"),
        [r, c, ..] => format!("a {r}×{c} matrix"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dalembert_expr::SymbolKind;

    /// Any product of rotations: the spin carried along is the axial vector of
    /// R′Rᵀ, and of RᵀR′ in body axes.
    #[test]
    fn spin_is_the_axial_vector() {
        let exprs = Exprs::new();
        let angle = |name: &str| exprs.of_symbol(exprs.symbol(name, SymbolKind::Variable));
        let turn = |axis: Axis, name: &str| {
            let angle = angle(name);
            Tensor::rotation(&exprs, axis, angle, Some(exprs.time_derivative(angle)))
        };
        let e = ["e0", "e1", "e2", "e3"].map(angle);
        let quaternion =
            Tensor::quaternion(&exprs, &e, Some(e.map(|id| exprs.time_derivative(id))));
        let product = |list: &[Tensor]| {
            list[1..].iter().fold(list[0].clone(), |a, b| a.matmul(&exprs, b).expect("3×3"))
        };
        let euler = product(&[turn(Axis::Z, "a"), turn(Axis::X, "b"), turn(Axis::Y, "c")]);
        let mixed =
            product(&[euler.clone(), quaternion.clone().transpose(&exprs).expect("a matrix")]);
        let slanted = ["2/3", "-1/3", "2/3"].map(|text| {
            let (n, d) = text.split_once('/').expect("a fraction");
            let of = |text: &str| exprs.integer(text.parse().expect("an integer"));
            (of(n) / of(d)).id
        });
        let a = angle("a");
        let about = Tensor::about(&exprs, &slanted, a, Some(exprs.time_derivative(a)));
        // It leaves its axis alone.
        let kept = about.matmul(&exprs, &Tensor::vector(slanted.to_vec())).expect("3×3");
        for (kept, own) in kept.components().iter().zip(slanted) {
            assert!(exprs.is_zero((exprs.at(*kept) - exprs.at(own)).id).is_zero());
        }
        let about_z = Tensor::about(
            &exprs,
            &[ExprId::ZERO, ExprId::ZERO, ExprId::ONE],
            a,
            Some(exprs.time_derivative(a)),
        );
        let rate = Some(exprs.time_derivative(a));
        assert_eq!(about_z, Tensor::rotation(&exprs, Axis::Z, a, rate));
        let mixed_about = product(&[about, turn(Axis::X, "b")]);
        for rotation in [euler, quaternion, mixed, mixed_about] {
            let Tensor::Matrix { data, spin: Some(spin), .. } = &rotation else {
                panic!("no spin")
            };
            let rate = Tensor::matrix(3, data.iter().map(|&e| exprs.time_derivative(e)).collect());
            let turned = rotation.transpose(&exprs).expect("a matrix");
            let axial = |a: &Tensor, b: &Tensor| {
                Tensor::axial(&exprs, a.matmul(&exprs, b).expect("3×3").components())
            };
            for (found, expected) in
                [(spin.inertial, axial(&rate, &turned)), (spin.body, axial(&turned, &rate))]
            {
                for i in 0..3 {
                    let difference = (exprs.at(found[i]) - exprs.at(expected[i])).id;
                    assert!(exprs.is_zero(difference).is_zero());
                }
            }
        }
    }
}
