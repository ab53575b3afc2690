//! What `--plot` asks for: a figure of curves, the drawing at several instants, or the drawing in
//! motion; in the format of the file's ending.

use crate::show::{Chosen, Shown};
use dalembert::Model;
use dalembert::export::plot::moving::Moving;
use dalembert::export::plot::{Format, Mark, Modes, Motion, Strobe};
use dalembert::export::scene::Scene;
use dalembert::export::table::Columns;
use dalembert::simulate::{Observation, Setting};
use std::path::{Path, PathBuf};

/// More instants than this are no picture.
const MOST_FRAMES: usize = 2000;

/// How the drawing is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    pub frames: Option<usize>,
    pub is_animated: bool,
    /// Whether nobody said which quantities are shown.
    pub is_left: bool,
}

/// A picture in the making.
pub(crate) struct Picture {
    path: PathBuf,
    format: Format,
    wish: Wish,
    /// The curves.
    chosen: Chosen,
    /// The drawing, where it is shown.
    motion: Option<Motion>,
    /// How contacts and frictions are, where nobody said what is shown.
    modes: Option<Modes>,
}

impl Picture {
    pub fn new(
        path: &Path,
        wish: Wish,
        shown: &[Shown],
        columns: &Columns,
        model: &Model,
    ) -> Result<Picture, String> {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let Some(format) = Format::by_ending(ending) else {
            let known: Vec<String> =
                Format::ALL.iter().map(|(ending, _)| format!("`.{ending}`")).collect();
            let known = known.join(", ");
            return Err(format!("--plot: `{}` must end with one of {known}", path.display()));
        };
        if wish.is_animated && !matches!(format, Format::Svg | Format::Gif) {
            return Err("--animate: only an `.svg` or a `.gif` can move".to_owned());
        }
        if let Some(count) = wish.frames.filter(|n| !(1..=MOST_FRAMES).contains(n)) {
            return Err(format!(
                "--frames is a number from 1 to {MOST_FRAMES}, and {count} is none"
            ));
        }
        // The picture is written last; a folder that is not there is told before the run.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(Err(error)) = folder.map(std::fs::metadata) {
            return Err(cannot_write(path, &error));
        }
        let moves = wish.is_animated || format == Format::Gif;
        let mut motion = None;
        if moves || wish.frames.is_some() {
            let scene = Scene::new(model);
            if let Some(why) = scene.why() {
                return Err(why.to_owned());
            }
            motion = Some(Motion::new(scene));
        }
        let chosen = Chosen::new(if moves { &[] } else { shown }, columns)?;
        let modes = Modes::new(model).filter(|_| wish.is_left && !moves && !shown.is_empty());
        Ok(Picture { path: path.to_owned(), format, wish, chosen, motion, modes })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what is needed of a row.
    pub fn row(&mut self, setting: &Setting, observation: &Observation, row: &[f64]) {
        self.chosen.row(row);
        if let Some(motion) = &mut self.motion {
            motion.record(setting, observation);
        }
        if let Some(modes) = &mut self.modes {
            modes.record(observation);
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.chosen.clear();
        if let Some(motion) = &mut self.motion {
            motion.clear();
        }
        if let Some(modes) = &mut self.modes {
            modes.clear();
        }
    }

    /// Writes the file.
    pub fn write(&self, title: &str, columns: &Columns, marks: Vec<Mark>) -> Result<(), String> {
        let bytes = self.bytes(title, columns, marks);
        let bytes = bytes.ok_or_else(|| {
            format!(
                "cannot write `{}`: nothing of the drawing is at a finite place, or there is no \
                     memory for so many pixels",
                self.path.display()
            )
        })?;
        std::fs::write(&self.path, bytes).map_err(|error| cannot_write(&self.path, &error))
    }

    fn bytes(&self, title: &str, columns: &Columns, marks: Vec<Mark>) -> Option<Vec<u8>> {
        let Wish { frames, is_animated, .. } = self.wish;
        if is_animated || self.format == Format::Gif {
            let motion = self.motion.clone()?;
            let moving = Moving { title: title.to_owned(), motion, frames };
            return match self.format {
                Format::Gif => moving.to_gif().ok(),
                _ => moving.to_svg().map(String::into_bytes),
            };
        }
        let mut figure = self.chosen.figure(title, columns);
        figure.marks = marks;
        if let Some(modes) = &self.modes {
            figure = figure.with_modes(modes);
        }
        figure.strobe =
            self.motion.clone().zip(frames).map(|(motion, frames)| Strobe { motion, frames });
        match self.format {
            Format::Png => figure.to_png().ok(),
            Format::Pdf => Some(figure.to_pdf()),
            Format::Svg | Format::Gif => Some(figure.to_svg().into_bytes()),
        }
    }
}

/// What is said of a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write `{}`: {error}", path.display())
}
