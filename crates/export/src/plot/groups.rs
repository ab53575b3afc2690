//! Which curves may share a panel.
//!
//! A curve is flat where its own range is a small part of the panel's. So a panel holds curves of one
//! kind, and its range, from the lowest to the highest of all of them, is at most [`FLAT`] times
//! that of any curve in it. A constant is flat anywhere; it is kept where it does not widen the
//! panel much. So is what varies by less than [`NOISE`] of the largest value of its kind: errors
//! of a run are no motion. What is drawn against something other than time stays together: there the shape
//! of each curve depends on both axes.

use super::{Curve, Panel};

/// A curve that is lower than this part of its panel is hard to read.
const FLAT: f64 = 6.0;
/// A constant may widen a panel by this factor.
const WIDER: f64 = 3.0;
/// What varies less than this, beside what else is shown of its kind, is constant.
const NOISE: f64 = 1e-8;

/// The panels that one becomes, in the order of their first curves.
pub(super) fn divided(panel: Panel) -> Vec<Panel> {
    if !panel.is_against_time() || panel.curves.len() < 2 || panel.is_strips() {
        return vec![panel];
    }
    let ranges: Vec<Option<(f64, f64)>> = panel.curves.iter().map(range).collect();
    let of_kind = |at: usize| {
        let kind = panel.curves[at].kind;
        let same = (0..ranges.len()).filter(|&i| panel.curves[i].kind == kind);
        same.filter_map(|i| ranges[i]).map(size).fold(0.0, f64::max)
    };
    let is_constant: Vec<bool> =
        (0..ranges.len()).map(|at| span(ranges[at]) <= NOISE * of_kind(at)).collect();
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    // The widest first: others join them or not.
    order.sort_by(|&a, &b| span(ranges[b]).total_cmp(&span(ranges[a])));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let fits = |group: &&mut Vec<usize>| {
            let (first, own) = (panel.curves[group[0]].kind, panel.curves[at].kind);
            // Modes have strips, which flatten nothing.
            (first.is_mode() && own.is_mode())
                || (first == own && fits(&ranges, &is_constant, group, at))
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort();
    let of = |group: Vec<usize>| Panel {
        x_label: panel.x_label.clone(),
        x_kind: panel.x_kind,
        curves: group.into_iter().map(|at| panel.curves[at].clone()).collect(),
    };
    groups.into_iter().map(of).collect()
}

/// The lowest and the highest value; none where there is no number.
fn range(curve: &Curve) -> Option<(f64, f64)> {
    let values = curve.points().flatten().map(|p| p.1);
    values.fold(None, |range, y| match range {
        None => Some((y, y)),
        Some((low, high)) => Some((f64::min(low, y), f64::max(high, y))),
    })
}

fn span(range: Option<(f64, f64)>) -> f64 {
    range.map_or(0.0, |(low, high)| 0.5 * high - 0.5 * low)
}

fn size(range: (f64, f64)) -> f64 {
    range.0.abs().max(range.1.abs())
}

/// Whether a curve can join others.
fn fits(ranges: &[Option<(f64, f64)>], is_constant: &[bool], group: &[usize], at: usize) -> bool {
    let Some(own) = ranges[at] else { return true };
    let known = || group.iter().filter_map(|&i| Some((i, ranges[i]?)));
    let Some((_, first)) = known().next() else { return true };
    let union = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
    let before = known().fold(first, |all, (_, r)| union(all, r));
    let after = span(Some(union(before, own)));
    let varying = known().filter(|(i, _)| !is_constant[*i]).map(|(_, r)| span(Some(r)));
    let least = varying.fold(f64::INFINITY, f64::min);
    if is_constant[at] {
        return least == f64::INFINITY || after <= WIDER * span(Some(before));
    }
    after <= FLAT * least.min(span(Some(own)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Quantity;

    fn divide(curves: &[(&str, Quantity, &[f64])]) -> Vec<Vec<String>> {
        let curve = |&(label, kind, y): &(&str, Quantity, &[f64])| Curve {
            label: label.to_owned(),
            kind,
            x: (0..y.len()).map(|i| i as f64).collect(),
            y: y.to_vec(),
            ..Curve::default()
        };
        let panel = Panel {
            x_label: "t".into(),
            x_kind: Quantity::Time,
            curves: curves.iter().map(curve).collect(),
        };
        let labels = |p: Panel| p.curves.into_iter().map(|c| c.label).collect();
        divided(panel).into_iter().map(labels).collect()
    }

    #[test]
    fn sizes_do_not_flatten_each_other() {
        use Quantity::Length;
        let panels = divide(&[
            ("a", Length, &[0.0, 1.0]),
            ("b", Length, &[0.0, 500.0]),
            ("c", Length, &[-2.0, 1.0]),
            ("d", Length, &[100.0, 600.0]),
        ]);
        assert_eq!(panels, [["a", "c"], ["b", "d"]]);
        // Of one size, far from each other.
        assert_eq!(divide(&[("a", Length, &[0.0, 1.0]), ("b", Length, &[100.0, 101.0])]).len(), 2);
        // Constants stay where they do no harm.
        let panels = divide(&[
            ("a", Length, &[0.0, 1.0]),
            ("zero", Length, &[0.0, 0.0]),
            ("far", Length, &[90.0, 90.0]),
        ]);
        assert_eq!(panels, [vec!["a", "zero"], vec!["far"]]);
        // So does noise, which is no motion.
        let panels = divide(&[("a", Length, &[0.0, 1.0]), ("noise", Length, &[0.0, 1e-12])]);
        assert_eq!(panels, [["a", "noise"]]);
        let panels = divide(&[("a", Length, &[0.0, 1.0]), ("small", Length, &[0.0, 1e-5])]);
        assert_eq!(panels, [["a"], ["small"]]);
        let nan = f64::NAN;
        let panels = divide(&[("a", Length, &[nan, nan]), ("b", Length, &[0.0, 1.0])]);
        assert_eq!(panels, [["a", "b"]]);
    }

    #[test]
    fn kinds_have_panels_of_their_own() {
        use Quantity::{Angle, Energy, Length};
        let panels = divide(&[
            ("x", Length, &[0.0, 1.0]),
            ("theta", Angle, &[0.0, 1.0]),
            ("y", Length, &[0.0, 1.0]),
            ("energy", Energy, &[1.0, 1.0]),
        ]);
        assert_eq!(panels, [vec!["x", "y"], vec!["theta"], vec!["energy"]]);
    }
}
