//! Internal to `dalembert`, no stability promised: use it through that crate.
//!
//! Documents: what a derivation gave, for people and for programs. One file a
//! kind of document; all of them read one [`Derivation`].

pub mod analysis;
mod conditions;
pub mod control;
mod derivation;
pub mod diagnostics;
pub mod evaluation;
pub mod events;
pub mod floquet;
pub mod html;
pub mod invariants;
pub mod json;
pub mod latex;
pub mod linearization;
pub mod lint;
mod names;
mod phase;
pub mod plot;
pub mod quantity;
mod readable;
mod report;
pub mod scene;
pub mod sinks;
mod start;
pub mod summary;
mod systems;
pub mod table;
mod terms;
pub mod text;
mod typeset;
mod values;
pub mod verified;
mod width;

pub use analysis::AnalysisPage;
pub use control::{AlongPage, LocalPage};
pub use derivation::{Derivation, Extras};
pub use evaluation::EvaluationPage;
pub use events::end_words;
pub use floquet::{FloquetPage, WithinPage};
pub use linearization::LinearizationPage;
pub use readable::Held;
pub use readable::{Part, Readable, Row, Solved};
pub use report::ReportPage;
pub use summary::RunPage;
