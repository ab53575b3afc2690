//! Listings for graphs: what is used more than once and is not short gets a
//! name, so that the length of the listing follows the graph, not its tree.

use super::layout::Layout;
use super::order::operands;
use super::write::{Level, Page};
use super::{Notation, style};
use crate::arena::{Arena, ExprId, Exprs, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

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
/// A component of K⁻¹ r takes the room of so many nodes.
const SOLVE: u64 = 5;

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
        let named = choose(arena, &layout.order.nodes, ids, LEAST_SIZE, u64::MAX);
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

    /// The parts of expressions that deserve a name, each before those that hold it:
    /// what is used more than once, from `shared` nodes on, and sums inside of
    /// products, roots and functions, from `room` nodes on, so that every line can be
    /// broken between its terms. The expressions themselves are not among them.
    pub fn parts_to_name(&self, ids: &[ExprId], shared: u64, room: u64) -> Vec<ExprId> {
        let arena = &*self.arena.lock();
        let layout = Layout::new(arena, ids, usize::MAX);
        let roots: FxHashSet<ExprId> = ids.iter().copied().collect();
        let mut named = choose(arena, &layout.order.nodes, ids, shared, room);
        named.retain(|id| room < u64::MAX || !roots.contains(id));
        named
    }

    /// An expression in which parts other than itself are written by their names.
    ///
    /// ```
    /// # use dalembert_expr::{Exprs, Notation};
    /// let exprs = Exprs::new();
    /// let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    /// let names = [((x + y).id, "z".to_owned())].into_iter().collect();
    /// let product = (x * (x + y).powi(2)).id;
    /// assert_eq!(exprs.print_named(product, Notation::Text, &names), "x·z²");
    /// ```
    pub fn print_named(
        &self,
        id: ExprId,
        notation: Notation,
        names: &BTreeMap<ExprId, String>,
    ) -> String {
        let arena = &*self.arena.lock();
        let style = style(notation);
        let mut layout = Layout::new(arena, &[id], usize::MAX);
        let own = layout.order.nodes.iter().filter(|&&node| node != id);
        let own: Vec<(ExprId, String)> =
            own.filter_map(|node| Some((*node, names.get(node)?.clone()))).collect();
        layout.names.extend(own);
        layout.distributes = notation != Notation::Source;
        Page::new(layout, &*style).write(&*style, id, Level::Or, u64::MAX)
    }
}

/// The size of a node with these operands.
fn tree_size(operands: &[ExprId], sizes: &FxHashMap<ExprId, u64>) -> u64 {
    operands
        .iter()
        .fold(1, |total: u64, c| total.saturating_add(sizes.get(c).copied().unwrap_or(1)))
}

/// The nodes that deserve a name, children first.
fn choose(arena: &Arena, nodes: &[ExprId], roots: &[ExprId], least: u64, room: u64) -> Vec<ExprId> {
    let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
    let mut inside: FxHashSet<ExprId> = FxHashSet::default();
    for &id in nodes.iter() {
        for child in operands(arena, id) {
            *uses.entry(child).or_default() += 1;
            if !matches!(arena.node(id), Node::Sum { .. }) {
                inside.insert(child);
            }
        }
    }
    for &root in roots {
        *uses.entry(root).or_default() += 1;
    }
    let mut named = Vec::new();
    let mut sizes: FxHashMap<ExprId, u64> = FxHashMap::default();
    for &id in nodes {
        let mut size = match arena.node(id) {
            Node::Solve { .. } => SOLVE,
            _ => tree_size(&operands(arena, id), &sizes),
        };
        // A product that is too long has its longest sums named.
        if matches!(arena.node(id), Node::Product { .. }) && size > room {
            let mut sums: Vec<ExprId> = operands(arena, id)
                .into_iter()
                .filter(|&child| is_nameable(arena, child) && sizes.get(&child) > Some(&LEAST_SIZE))
                .collect();
            sums.sort_by_key(|child| std::cmp::Reverse(sizes.get(child).copied()));
            for child in sums {
                if size > room {
                    named.push(child);
                    sizes.insert(child, 1);
                    size = tree_size(&operands(arena, id), &sizes);
                }
            }
        }
        let shared = uses.get(&id).copied().unwrap_or(0) > 1 && size >= least;
        let long = inside.contains(&id) && size > room;
        if is_nameable(arena, id) && (shared || long) {
            named.push(id);
            sizes.insert(id, 1);
        } else {
            sizes.insert(id, size);
        }
    }
    // Operands have smaller numbers than what they are operands of.
    named.sort_unstable();
    named
}

/// Conditions are no values, and a name for −x or x² hides more than it shows.
fn is_nameable(arena: &Arena, id: ExprId) -> bool {
    match arena.node(id) {
        Node::Call { function, .. } => !function.is_condition(),
        Node::Sum { len, .. } | Node::Product { len, .. } => len > 1,
        Node::Power(..) => true,
        _ => false,
    }
}
