//! Surfaces and the functions restricted to them; see [`crate::restriction`].

use crate::arena::ExprId;
use crate::arithmetic::{Formula, Restriction};
use crate::symbol::Symbol;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// A surface, by its place in an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SurfaceId(pub(crate) u32);

/// All restrictions of an arena.
#[derive(Clone, Default)]
pub(crate) struct Restrictions {
    pub surfaces: Vec<SurfaceData>,
    pub surface_ids: FxHashMap<SurfaceKey, SurfaceId>,
    pub functions: Vec<(SurfaceId, ExprId)>,
    pub function_ids: FxHashMap<(SurfaceId, ExprId), u32>,
    pub made: FxHashMap<Vec<u32>, Arc<Restriction>>,
}

/// What a surface is given by.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct SurfaceKey {
    pub conditions: Vec<ExprId>,
    pub symbols: Vec<Symbol>,
    pub units: Vec<u64>,
    pub constants: Vec<(Symbol, ExprId)>,
    pub shift: i64,
    pub bits: usize,
}

#[derive(Clone)]
pub(crate) struct SurfaceData {
    /// Those that are moved come first.
    pub symbols: Vec<Symbol>,
    pub units: Vec<f64>,
    pub conditions: Vec<ExprId>,
    /// J, the columns for the symbols that are moved.
    pub rows: Vec<Vec<ExprId>>,
    /// J U² Jᵀ.
    pub gram: Vec<ExprId>,
    pub constants: Vec<(Symbol, ExprId)>,
    pub shift: i64,
    pub bits: usize,
    /// The way onto it, made when first wanted.
    pub way: Arc<OnceLock<Arc<Formula>>>,
}

impl Restrictions {
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }
}
