//! Fewer points for the same picture.
//!
//! A point is left out if the line without it passes within a fraction of a pixel
//! (Douglas & Peucker 1973). Where a curve against time swings more often than there
//! are pixels, each column of pixels keeps its first, lowest, highest and last point
//! (Jugel et al. 2014), which fill the same pixels.

type Point = (f64, f64);

/// Most points of a curve; a curve that turns back may need more.
pub(super) const MOST: usize = 2000;
const TOLERANCE: f64 = 0.05;
/// Runs of points are taken by so many, which bounds the time for any curve.
const CHUNK: usize = 1024;

/// The points that matter, in pixels.
pub(super) fn simplify(points: &[Point], is_monotone: bool) -> Vec<Point> {
    let mut tolerance = TOLERANCE;
    let mut fewer = peucker(points, tolerance);
    while fewer.len() > MOST && tolerance < 0.5 {
        tolerance *= 2.0;
        fewer = peucker(points, tolerance);
    }
    if fewer.len() > MOST && is_monotone { columns(points, MOST / 4) } else { fewer }
}

fn peucker(points: &[Point], tolerance: f64) -> Vec<Point> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut kept = vec![points[0]];
    let mut pending = Vec::new();
    let mut start = 0;
    while start + 1 < points.len() {
        let end = (start + CHUNK).min(points.len() - 1);
        pending.push((start, end));
        while let Some((a, b)) = pending.pop() {
            let far = (a + 1..b)
                .map(|i| (distance(points[i], points[a], points[b]), i))
                .max_by(|x, y| x.0.total_cmp(&y.0))
                .filter(|far| far.0 > tolerance);
            match far {
                // The first half is taken from the stack first.
                Some((_, i)) => pending.extend([(i, b), (a, i)]),
                None => kept.push(points[b]),
            }
        }
        start = end;
    }
    kept
}

/// From p to the piece of line a b.
fn distance(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx * dx + dy * dy;
    let along = if length == 0.0 { 0.0 } else { ((p.0 - a.0) * dx + (p.1 - a.1) * dy) / length };
    let along = along.clamp(0.0, 1.0);
    (p.0 - a.0 - along * dx).hypot(p.1 - a.1 - along * dy)
}

fn columns(points: &[Point], count: usize) -> Vec<Point> {
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let column = |p: &Point| ((p.0 - first) / (last - first) * count as f64) as usize;
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a).min(count - 1) == column(b).min(count - 1)) {
        let by = |a: &usize, b: &usize| run[*a].1.total_cmp(&run[*b].1);
        let low = (0..run.len()).min_by(by).unwrap_or(0);
        let high = (0..run.len()).max_by(by).unwrap_or(0);
        let mut chosen = [0, low, high, run.len() - 1];
        chosen.sort_unstable();
        for (at, &i) in chosen.iter().enumerate() {
            if at == 0 || chosen[at - 1] != i {
                kept.push(run[i]);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(n: usize, f: impl Fn(f64) -> Point) -> Vec<Point> {
        (0..n).map(|i| f(i as f64 / (n - 1) as f64)).collect()
    }

    #[test]
    fn smooth_curves_lose_points_and_no_shape() {
        let points = curve(100_000, |s| (640.0 * s, 150.0 * (20.0 * s).sin()));
        let fewer = simplify(&points, true);
        assert!(fewer.len() < MOST && fewer.len() > 50, "{}", fewer.len());
        assert_eq!((fewer[0], fewer.last()), (points[0], points.last()));
        for p in points.iter().step_by(97) {
            let near = fewer.windows(2).map(|w| distance(*p, w[0], w[1])).fold(f64::MAX, f64::min);
            assert!(near <= TOLERANCE, "{near}");
        }
    }

    #[test]
    fn swings_faster_than_pixels_keep_their_envelope() {
        let points = curve(100_000, |s| (640.0 * s, 150.0 * s * (30_000.0 * s).sin()));
        let fewer = simplify(&points, true);
        assert!(fewer.len() <= MOST, "{}", fewer.len());
        for part in 1..=8 {
            let upper = |list: &[Point]| {
                let near = list.iter().filter(|p| (p.0 - 80.0 * f64::from(part)).abs() < 5.0);
                near.fold(0f64, |m, p| m.max(p.1))
            };
            assert!((upper(&points) - upper(&fewer)).abs() < 1.0);
        }
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let points = [(0.0, 0.0), (1.0, 5.0), (2.0, 0.0)];
        assert_eq!(simplify(&points, true), points);
        assert_eq!(simplify(&points[..1], true), points[..1]);
        assert_eq!(simplify(&[], true), []);
    }
}
