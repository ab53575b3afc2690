//! Listings for graphs: what is used more than once and is not short gets a
//! name, so that the length of the listing follows the graph, not its tree.

use super::layout::Layout;
use super::order::operands;
use super::write::{Level, Page};
use super::{Notation, style};
use crate::arena::{Arena, ExprId, Exprs, Node};
use rustc_hash::{FxHashMap, FxHashSet};

/// Expressions in terms of named parts they have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Name and text of each common part; each uses only those before it.
    pub definitions: Vec<(String, String)>,
    /// The expressions, in the order they were given.
    pub roots: Vec<String>,
}

/// Parts of fewer nodes than this are repeated rather than named.
const LEAST_SIZE: u64 = 6;

impl Exprs {
    /// How many nodes the expression has when written out as a tree, in which
    /// shared parts are repeated; `u64::MAX` if there are more. A solve node
    /// counts as one, since its operands are not written.
    pub fn count_tree_size(&self, id: ExprId) -> u64 {
        let arena = &*self.arena.lock();
        let mut nodes = vec![id];
        let mut found: FxHashSet<ExprId> = nodes.iter().copied().collect();
        let mut at = 0;
        while at < nodes.len() {
            nodes.extend(
                operands(arena, nodes[at]).into_iter().filter(|&child| found.insert(child)),
            );
            at += 1;
        }
        nodes.sort_unstable();
        let mut sizes: FxHashMap<ExprId, u64> = FxHashMap::default();
        for node in nodes {
            let size = tree_size(&operands(arena, node), &sizes);
            sizes.insert(node, size);
        }
        sizes.get(&id).copied().unwrap_or(1)
    }

    /// The expressions in source text, what they have in common defined before
    /// them under the names `prefix` and a number: (definitions, roots).
    pub fn to_source_shared(
        &self,
        ids: &[ExprId],
        prefix: &str,
    ) -> (Vec<(String, String)>, Vec<String>) {
        let Listing { definitions, roots } = self.print_shared(ids, Notation::Source, prefix);
        (definitions, roots)
    }

    /// The expressions in any notation, what they have in common defined before
    /// them. The length of all texts together grows with the number of nodes.
    ///
    /// ```
    /// # use dalembert_expr::{Exprs, Notation};
    /// let exprs = Exprs::new();
    /// let [x, y, z] = ["x", "y", "z"].map(|name| exprs.variable(name));
    /// let r = (x.powi(2) + y.powi(2) + z.powi(2)).sqrt();
    /// let listing = exprs.print_shared(&[(x / r).id, (y / r).id], Notation::Source, "w");
    /// assert_eq!(listing.definitions, [("w1".to_string(), "x^2 + y^2 + z^2".to_string())]);
    /// assert_eq!(listing.roots, ["x/sqrt(w1)", "y/sqrt(w1)"]);
    /// ```
    pub fn print_shared(&self, ids: &[ExprId], notation: Notation, prefix: &str) -> Listing {
        let arena = &*self.arena.lock();
        let style = style(notation);
        let layout = Layout::new(arena, ids, usize::MAX);
        let named = choose(arena, &layout.order.nodes, ids);
        let mut page = Page::new(layout, &*style);
        let mut definitions = Vec::new();
        // A part gets its name only after its own text has been written.
        for (at, id) in named.into_iter().enumerate() {
            let text = page.write(&*style, id, Level::Or, u64::MAX);
            let name = notation.name(&format!("{prefix}{}", at + 1), 0);
            page.layout.names.insert(id, name.clone());
            definitions.push((name, text));
        }
        let roots = ids.iter().map(|&id| page.write(&*style, id, Level::Or, u64::MAX)).collect();
        Listing { definitions, roots }
    }
}

/// The size of a node with these operands.
fn tree_size(operands: &[ExprId], sizes: &FxHashMap<ExprId, u64>) -> u64 {
    operands
        .iter()
        .fold(1, |total: u64, c| total.saturating_add(sizes.get(c).copied().unwrap_or(1)))
}

/// The nodes that deserve a name, children first.
fn choose(arena: &Arena, nodes: &[ExprId], roots: &[ExprId]) -> Vec<ExprId> {
    let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
    for &id in nodes.iter() {
        for child in operands(arena, id) {
            *uses.entry(child).or_default() += 1;
        }
    }
    for &root in roots {
        *uses.entry(root).or_default() += 1;
    }
    let mut named = Vec::new();
    let mut sizes: FxHashMap<ExprId, u64> = FxHashMap::default();
    for &id in nodes {
        let size = tree_size(&operands(arena, id), &sizes);
        // Conditions are no values, and a name for −x or x² hides more than it shows.
        let nameable = match arena.node(id) {
            Node::Call { function, .. } => !function.is_condition(),
            Node::Sum { len, .. } | Node::Product { len, .. } => len > 1,
            Node::Power(..) => true,
            _ => false,
        };
        let shared = uses.get(&id).copied().unwrap_or(0) > 1;
        if nameable && shared && size >= LEAST_SIZE {
            named.push(id);
            sizes.insert(id, 1);
        } else {
            sizes.insert(id, size);
        }
    }
    named
}
