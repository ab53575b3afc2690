pub(crate) mod formulas;
pub(crate) mod random;
mod reader;

use crate::arena::{Arena, ExprId, Exprs, Node, NumberId};
use crate::{Notation, Number, latex_name, text_name};
use proptest::prelude::*;
use rustc_hash::FxHashMap;

fn balanced(text: &str) -> bool {
    let mut open = Vec::new();
    let mut previous = ' ';
    for c in text.chars() {
        match c {
            '{' | '(' | '[' if previous != '\\' => open.push(c),
            '}' if previous != '\\' && open.pop() != Some('{') => return false,
            ')' if open.pop() != Some('(') => return false,
            ']' if open.pop() != Some('[') => return false,
            _ => {}
        }
        previous = c;
    }
    open.is_empty() && text.matches("\\left").count() == text.matches("\\right").count()
}

#[test]
fn missing_brackets_are_found() {
    assert!(balanced("\\frac{a}{b} \\left(x [y] \\right) \\}"));
    for wrong in ["{", "}", "(]", "\\left( x )", "{(})"] {
        assert!(!balanced(wrong), "{wrong}");
    }
}

/// Whether each factor, built again, stays what it is. Roots of roots of
/// numbers that met in a product may still be taken further apart.
fn is_settled(arena: &mut Arena, root: ExprId) -> bool {
    arena.reachable(&[root]).into_iter().all(|id| {
        let items = match arena.node(id) {
            Node::Product { start, len } => arena.items(start, len).to_vec(),
            _ => return true,
        };
        items.iter().all(|item| {
            let power = arena.monomial(NumberId::ONE, &[*item]);
            match arena.node(power) {
                Node::Product { start, len: 1 } => arena.items(start, 1)[0] == *item,
                _ => item.number == NumberId::ONE && power == item.expr,
            }
        })
    })
}

/// Whether the contents of all its sums are taken out: their numbers are not of many digits.
fn is_compact(arena: &mut Arena, root: ExprId) -> bool {
    arena.reachable(&[root]).into_iter().all(|id| {
        let Node::Sum { constant, start, len } = arena.node(id) else { return true };
        let mut numbers: Vec<Number> = vec![arena.value(constant).clone()];
        numbers.extend(arena.items(start, len).iter().map(|i| arena.value(i.number).clone()));
        let content =
            numbers.iter().fold(Number::ZERO, |content, number| match content.is_zero() {
                true => number.abs(),
                false => content.gcd(number),
            });
        content.is_compact() && numbers.iter().all(Number::is_compact)
    })
}

/// Whether all its numbers can be read. Numerators and denominators may be
/// longer than any double, which is longer than any literal of the language.
fn has_literals(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit()).all(|digits| digits.len() < 300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn source_reads_back_as_the_same_node(steps in random::steps(40)) {
        let exprs = Exprs::new();
        let made = random::build(&exprs, &steps);
        let all: Vec<ExprId> = made.iter().map(|e| e.id).collect();
        for &id in &all {
            let text = exprs.to_source(id);
            if !has_literals(&text) || !is_settled(&mut exprs.arena.lock(), id) {
                continue;
            }
            let back = reader::read(&exprs, &all, &text);
            // Sums of many digits keep their content, which is printed in front: what is read is of
            // the same value, and may be another node.
            if back != id && !is_compact(&mut exprs.arena.lock(), id) {
                let at = |symbol: crate::Symbol| 0.3 + 0.1 * symbol.index() as f64;
                let value = exprs.eval_f64(&[id, back], at);
                let off = (value[0] - value[1]).abs();
                let same = off <= 1e-6 * value[0].abs() || !off.is_finite();
                prop_assert!(same, "{}: {} became {}", text, value[0], value[1]);
                continue;
            }
            prop_assert_eq!(back, id, "{} became {}", text, exprs.to_source(back));
        }
    }

    #[test]
    fn every_notation_is_balanced(steps in random::steps(40), limit in 0usize..200) {
        let exprs = Exprs::new();
        for e in random::build(&exprs, &steps) {
            prop_assert!(balanced(&exprs.to_latex(e.id)), "{}", exprs.to_latex(e.id));
            prop_assert!(balanced(&exprs.to_text(e.id)), "{}", exprs.to_text(e.id));
            for notation in [Notation::Text, Notation::Latex, Notation::Source] {
                let short = exprs.print_limited(e.id, notation, limit);
                prop_assert!(balanced(&short), "{}", short);
                prop_assert!(short.len() < 20 * limit + 1000, "{}", short);
            }
        }
    }

    #[test]
    fn listings_mean_the_same(steps in random::steps(40)) {
        let exprs = Exprs::new();
        let made = random::build(&exprs, &steps);
        let ids: Vec<ExprId> = made.iter().map(|e| e.id).collect();
        prop_assume!(ids.iter().all(|&id| is_settled(&mut exprs.arena.lock(), id)));
        let (definitions, roots) = exprs.to_source_shared(&ids, "w");
        prop_assume!(definitions.iter().map(|d| &d.1).chain(&roots).all(|text| has_literals(text)));
        let mut names: FxHashMap<String, ExprId> = exprs
            .symbols_of(&ids)
            .into_iter()
            .map(|s| (exprs.symbol_info(s).full_name(), exprs.of_symbol(s)))
            .collect();
        for (name, text) in definitions {
            let id = reader::read_with(&exprs, names.clone(), &text);
            names.insert(name, id);
        }
        for (id, text) in ids.iter().zip(roots) {
            prop_assert_eq!(reader::read_with(&exprs, names.clone(), &text), *id, "{}", text);
        }
    }
}

/// Each formula in one notation, under its heading.
fn listing(print: impl Fn(&Exprs, ExprId) -> String) -> String {
    let exprs = Exprs::new();
    let mut text = String::new();
    for (heading, formula) in formulas::all(&exprs) {
        text.push_str(&format!("{heading}\n    {}\n", print(&exprs, formula.id)));
    }
    text
}

#[test]
fn textbook_formulas_in_source() {
    insta::assert_snapshot!(listing(|exprs, id| exprs.to_source(id)));
}

#[test]
fn textbook_formulas_in_text() {
    insta::assert_snapshot!(listing(|exprs, id| exprs.to_text(id)));
}

#[test]
fn textbook_formulas_in_latex() {
    insta::assert_snapshot!(listing(|exprs, id| exprs.to_latex(id)));
}

/// A document with every formula as it is and simplified.
fn document(exprs: &Exprs) -> String {
    let mut page = String::from(
        "\\documentclass{article}\n\\usepackage{amsmath}\n\\usepackage[margin=15mm]{geometry}\n\
         \\setlength{\\parindent}{0pt}\n\\begin{document}\n",
    );
    for (heading, formula) in formulas::all(exprs) {
        page.push_str(&format!("\\textsf{{\\detokenize{{{heading}}}}}\\\\\n"));
        let simplified = exprs.simplify(formula.id);
        if formula.id != simplified {
            page.push_str(&format!("$\\displaystyle {}$\\\\[1mm]\n", exprs.to_latex(formula.id)));
        }
        page.push_str(&format!("$\\displaystyle {}$\\\\[3mm]\n", exprs.to_latex(simplified)));
    }
    page.push_str("\\end{document}\n");
    page
}

#[test]
fn textbook_formulas_typeset() {
    let Some(latex) = std::env::var_os("DALEMBERT_LATEX") else { return };
    let folder = std::env::temp_dir().join(format!("dalembert-formulas-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("formulas.tex"), document(&Exprs::new())).unwrap();
    let run = std::process::Command::new(latex)
        .args(["-interaction=nonstopmode", "-halt-on-error", "formulas.tex"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn deep_and_shared_graphs_print_within_limits() {
    let exprs = Exprs::new();
    let x = exprs.variable("x");
    let mut chain = x;
    let mut tower = x;
    for _ in 0..50_000 {
        chain = chain.sin() + x;
        tower = tower.cos() * tower;
    }
    assert_eq!(exprs.count_tree_size(tower.id), u64::MAX);
    // A chain is as long as its tree, and printing it takes no recursion.
    assert!(exprs.to_source(chain.id).len() > 400_000);
    for notation in [Notation::Source, Notation::Text, Notation::Latex] {
        for root in [chain, tower] {
            let text = exprs.print_limited(root.id, notation, 200);
            assert!(balanced(&text) && text.chars().count() < 1000, "{text}");
        }
    }
    let (definitions, roots) = exprs.to_source_shared(&[tower.id], "w");
    let total: usize = definitions.iter().map(|(_, text)| text.len()).sum();
    assert!(total < 400 * definitions.len() && roots.len() == 1);
}

#[test]
fn names_in_all_notations() {
    let cases = [
        ("x", 0, "x", "x"),
        ("x", 1, "ẋ", r"\dot{x}"),
        ("x1", 2, "ẍ₁", r"\ddot{x}_{1}"),
        ("theta", 1, "θ̇", r"\dot{\theta}"),
        ("θ", 1, "θ̇", r"\dot{\theta}"),
        ("omega_1", 0, "ω₁", r"\omega_{1}"),
        ("th", 1, "th′", r"\mathrm{th}'"),
        ("th[2]", 2, "th₂″", r"\mathrm{th}_{2}''"),
        ("r[1,3]", 0, "r₁₃", "r_{13}"),
        ("r[1,13]", 1, "ṙ₁,₁₃", r"\dot{r}_{1,13}"),
        ("a[-1]", 0, "a₋₁", "a_{-1}"),
        ("x1[2]", 0, "x₁,₂", "x_{1,2}"),
        ("p_x", 0, "p_x", "p_{x}"),
        ("p_theta", 1, "ṗ_θ", r"\dot{p}_{\theta}"),
        ("p_th[2]", 0, "p_th₂", r"p_{\mathrm{th}_{2}}"),
        ("a.p_x", 0, "a.p_x", "p_{x_{a}}"),
        ("a.x", 1, "a.ẋ", r"\dot{x}_{a}"),
        ("pole.th", 1, "pole.th′", r"\mathrm{th}_{\mathrm{pole}}'"),
        ("a.b[2].x3", 0, "a.b₂.x₃", "x_{a.b_{2},3}"),
        ("m_cart", 0, "m_cart", r"m_{\mathrm{cart}}"),
        ("m_cart[2]", 0, "m_cart₂", r"m_{\mathrm{cart},2}"),
        ("mass", 0, "mass", r"\mathrm{mass}"),
        ("Omega", 0, "Ω", r"\Omega"),
        ("pi", 0, "π", r"\pi"),
        ("x", 3, "x‴", r"\dddot{x}"),
        ("x", 5, "x⁽⁵⁾", "x^{(5)}"),
        ("größe", 0, "größe", r"\text{größe}"),
    ];
    for (name, primes, text, latex) in cases {
        assert_eq!(
            text_name(name, primes),
            text.replace('ẋ', "x\u{307}")
                .replace('ẍ', "x\u{308}")
                .replace('ṙ', "r\u{307}")
                .replace('ṗ', "p\u{307}"),
            "{name}"
        );
        assert_eq!(latex_name(name, primes), latex, "{name}");
    }
    // Whatever a caller calls a symbol, nothing fails.
    for name in [
        "", "_", "__", ".", "a..b", "[", "]", "x[", "x]", "x[]", "p_", "p__", "1", "é_", "{\\%$",
        "p_p_p_",
    ] {
        for primes in 0..7 {
            assert!(
                balanced(&latex_name(name, primes)) || name.contains(['[', ']', '{']),
                "{name}"
            );
            text_name(name, primes);
        }
    }
}

#[test]
fn order_does_not_depend_on_how_an_expression_was_built() {
    let build = |swapped: bool| {
        let exprs = Exprs::new();
        let [m, l, g] = ["m", "l", "g"].map(|name| exprs.constant(name));
        let [theta, x] = ["theta", "x"].map(|name| exprs.variable(name));
        let parts = [
            m * g * l * theta.cos(),
            m / 2 * (x.dt() + l * theta.cos() * theta.dt()).powi(2),
            (g * exprs.time() - l).sin() * x,
        ];
        let id = if swapped {
            let twin = exprs.at(exprs.sum(&[x.powi(2).id, (l * theta.cos()).id]));
            let _ = twin * theta.dt();
            exprs.sum(&[parts[2].id, parts[1].id, parts[0].id])
        } else {
            exprs.sum(&parts.map(|p| p.id))
        };
        exprs.to_text(id)
    };
    assert_eq!(build(false), build(true));
}

#[test]
fn numbers_go_into_sums_where_that_takes_fewer_digits() {
    let exprs = Exprs::new();
    let (x, y) = (exprs.variable("x"), exprs.variable("y"));
    let hundredth = exprs.integer(1) / exprs.integer(100);
    let product = (x.sin() * (hundredth + y.cos() / 3)).id;
    assert_eq!(exprs.to_text(product), "(0.01 + ⅓·cos(y))·sin(x)");
    // The language keeps what was built.
    assert!(exprs.to_source(product).contains("300"), "{}", exprs.to_source(product));
    let half = (x.sin() * (exprs.integer(1) + y) / 2).id;
    assert_eq!(exprs.to_text(half), "½·(y + 1)·sin(x)");
}
