//! The page of a run: one HTML file with the viewer and the data it shows.

/// The viewer as it was built from `viewer/`; the data take the place of `/*PAGE*/`.
pub const VIEWER: &str = include_str!("../assets/viewer.html");
