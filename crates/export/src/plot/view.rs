//! From space to the page: a parallel projection from a fixed direction.
//!
//! Up is against gravity, or along the third axis. The eye stands 20° above the plane across it, on
//! the side from which the motion is spread widest over the page, so that what moves in a plane
//! is not seen along it.

/// How high the eye stands, and from where it looks if nothing else is better, in degrees.
const ELEVATION: f64 = 20.0;
const AZIMUTH: f64 = -60.0;
/// Another direction must show so much more.
const BETTER: f64 = 1.15;

/// A point on the page, and how near it is to the eye.
pub(super) type Seen = [f64; 3];

/// A direction to look from.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Rows: to the right, upward, toward the eye. None for the plane.
    rows: Option<[[f64; 3]; 3]>,
    /// The farthest and the nearest depth.
    depth: (f64, f64),
}

impl View {
    /// The view of these points, of two or three components each.
    pub fn new(dimension: usize, up: Option<[f64; 3]>, points: &[Vec<f64>]) -> View {
        if dimension < 3 {
            return View { rows: None, depth: (0.0, 0.0) };
        }
        let frame = frame(up.unwrap_or([0.0, 0.0, 1.0]));
        let rows = |azimuth: f64| rows(azimuth, &frame);
        let spread = |azimuth: f64| {
            let view = View { rows: Some(rows(azimuth)), depth: (0.0, 0.0) };
            let seen = points.iter().map(|p| view.place(p)).filter(|p| p[0].is_finite());
            let ends = [f64::INFINITY, f64::NEG_INFINITY];
            let (x, y) = seen.fold((ends, ends), |(x, y), p| {
                let widen = |e: [f64; 2], v: f64| [e[0].min(v), e[1].max(v)];
                (widen(x, p[0]), widen(y, p[1]))
            });
            (x[1] - x[0]).max(0.0) * (y[1] - y[0]).max(0.0)
        };
        let mut best = (AZIMUTH, spread(AZIMUTH));
        for step in 1..12 {
            let azimuth = AZIMUTH + 15.0 * f64::from(step);
            let found = spread(azimuth);
            if found > BETTER * best.1 {
                best = (azimuth, found);
            }
        }
        let mut view = View { rows: Some(rows(best.0)), depth: (0.0, 0.0) };
        let depths = points.iter().map(|p| view.place(p)[2]).filter(|d| d.is_finite());
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        view.depth = depths.fold(ends, |(low, high), d| (low.min(d), high.max(d)));
        view
    }

    /// A point on the page.
    pub fn place(&self, point: &[f64]) -> Seen {
        let Some(rows) = &self.rows else {
            return [point[0], point[1], 0.0];
        };
        rows.map(|row| row.iter().zip(point).map(|(a, b)| a * b).sum())
    }

    /// From 0, the farthest, to 1, the nearest.
    pub fn nearness(&self, depth: f64) -> f64 {
        let (far, near) = self.depth;
        match near > far {
            true => ((depth - far) / (near - far)).clamp(0.0, 1.0),
            false => 1.0,
        }
    }

    /// The directions of the axes on the page; none in the plane.
    pub fn axes(&self) -> Option<[Seen; 3]> {
        self.rows.as_ref()?;
        Some([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| self.place(&axis)))
    }
}

/// To the right, upward and toward the eye, for an eye that stands at an angle about the last of
/// three directions.
fn rows(azimuth: f64, frame: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let (sin, cos) = azimuth.to_radians().sin_cos();
    let (up, out) = ELEVATION.to_radians().sin_cos();
    let rows = [[-sin, cos, 0.0], [-up * cos, -up * sin, out], [out * cos, out * sin, up]];
    rows.map(|row| [0, 1, 2].map(|i| (0..3).map(|k| row[k] * frame[k][i]).sum()))
}

/// Three directions at right angles, right-handed, the last of them up; along the axes where that
/// is.
fn frame(up: [f64; 3]) -> [[f64; 3]; 3] {
    let length = |a: [f64; 3]| a.iter().map(|x| x * x).sum::<f64>().sqrt();
    let size = length(up);
    if !(size > 0.0 && size.is_finite()) {
        return frame([0.0, 0.0, 1.0]);
    }
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let up = up.map(|x| x / size);
    // The axis behind the one that is most upright.
    let most = (0..3).max_by(|&i, &j| up[i].abs().total_cmp(&up[j].abs())).unwrap_or(2);
    let mut first = [0.0; 3];
    first[(most + 1) % 3] = 1.0;
    let second = cross(up, first);
    let second = second.map(|x| x / length(second));
    [cross(second, up), second, up]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_in_a_plane_is_not_seen_along_it() {
        for turn in 0..12 {
            let (sin, cos) = (f64::from(turn) * 0.3).sin_cos();
            let points: Vec<Vec<f64>> = (0..60)
                .map(|i| (f64::from(i) * 0.1).sin_cos())
                .map(|(y, x)| vec![x * cos, x * sin, y])
                .collect();
            let view = View::new(3, None, &points);
            let wide = points.iter().map(|p| view.place(p)[0]).fold(0.0, f64::max);
            assert!(wide > 0.7, "{turn}: {wide}");
        }
    }

    #[test]
    fn lengths_along_the_page_are_kept_and_up_is_up() {
        let view = View::new(3, None, &[vec![0.0, 0.0, 0.0], vec![1.0, 2.0, 3.0]]);
        let axes = view.axes().expect("in space");
        for row in 0..3 {
            let length: f64 = axes.iter().map(|a| a[row] * a[row]).sum();
            assert!((length - 1.0).abs() < 1e-12);
        }
        assert!(axes[2][1] > 0.9 && axes[2][0].abs() < 1e-12);
        assert!(View::new(2, None, &[]).axes().is_none());
        for (up, axis) in [([0.0, 2.0, 0.0], 1), ([0.0, 0.0, -9.81], 2), ([1.0, 0.0, 0.0], 0)] {
            let axes = View::new(3, Some(up), &[]).axes().expect("in space");
            assert!(axes[axis][1] * up[axis].signum() > 0.9, "{up:?}: {axes:?}");
            // Right-handed as seen: x × y = z.
            let [a, b, c] = axes;
            let turned = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0]);
            assert!((turned - 1.0).abs() < 1e-12, "{turned}");
        }
    }
}
