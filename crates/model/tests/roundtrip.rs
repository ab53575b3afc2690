//! What is printed in the language's own syntax parses back to the same node.

use dalembert_model::load::{Syntax, load};
use proptest::prelude::*;

const HEAD: &str = "coord x, th[1..3]\nparam m = 1, omega = 2\nkinetic m*omega*x'^2/2\n";

/// Source texts of expressions, all forms of the language.
fn source() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x".to_owned()),
        Just("x'".to_owned()),
        Just("th[2]".to_owned()),
        Just("th[3]'".to_owned()),
        Just("p_x".to_owned()),
        Just("m".to_owned()),
        Just("omega".to_owned()),
        Just("t".to_owned()),
        Just("pi".to_owned()),
        (0i64..20).prop_map(|n| n.to_string()),
        (1i64..999, 1i64..40).prop_map(|(a, b)| format!("{a}/{b}")),
        (-999i64..999, 0u32..6).prop_map(|(a, e)| format!("({a}e-{e})")),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            proptest::collection::vec((any::<bool>(), inner.clone()), 2..5).prop_map(|terms| {
                terms
                    .iter()
                    .map(|(minus, t)| format!("{}({t})", if *minus { "-" } else { "+" }))
                    .collect()
            }),
            pair.clone().prop_map(|(a, b)| format!("({a})*({b})")),
            pair.clone().prop_map(|(a, b)| format!("({a})/({b} + 7/3 + x)")),
            (inner.clone(), -4i64..5).prop_map(|(a, n)| format!("(({a}) + 1/9 + m)^{n}")),
            (
                inner.clone(),
                prop_oneof![
                    Just("1/2"),
                    Just("-1/2"),
                    Just("3/2"),
                    Just("2/3"),
                    Just("x"),
                    Just("m - 1")
                ]
            )
                .prop_map(|(a, e)| format!("(({a})^2 + 1)^({e})")),
            (
                prop_oneof![
                    Just("sin"),
                    Just("cos"),
                    Just("tan"),
                    Just("atan"),
                    Just("exp"),
                    Just("abs"),
                    Just("sign"),
                    Just("tanh"),
                    Just("sinh"),
                    Just("cosh"),
                    Just("asin"),
                    Just("acos"),
                    Just("log")
                ],
                inner.clone()
            )
                .prop_map(|(f, a)| match f {
                    "log" => format!("log(({a})^2 + 1)"),
                    "asin" | "acos" => format!("{f}(sin({a})/2)"),
                    f => format!("{f}({a})"),
                }),
            pair.clone().prop_map(|(a, b)| format!("atan2({a}, {b} + x)")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("min({a}, {b}, max({c}, x))")),
            (inner.clone(), inner.clone(), inner.clone(), 0usize..4).prop_map(|(a, b, c, r)| {
                let relation = ["<", ">", "<=", ">="][r];
                format!("if({a} {relation} {b} and x > 0 or m < {c}, {b}, {c})")
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn printing_then_parsing_is_the_identity(text in source()) {
        let first = load("a.dal", &format!("{HEAD}observe a = {text}"), Syntax::Plain, &[], Default::default());
        // Some texts divide by a constant zero and the like; they are not models.
        prop_assume!(first.model.is_some());
        let model = first.model.expect("just checked");
        let printed = model.exprs.to_source(model.system.observes[0].value);
        let both = format!("{HEAD}observe a = {text}\nobserve b = {printed}");
        let second = load("b.dal", &both, Syntax::Plain, &[], Default::default());
        let shown: Vec<_> = second.diagnostics.iter().map(|d| d.message.clone()).collect();
        prop_assert!(second.model.is_some(), "{printed}: {shown:?}");
        let model = second.model.expect("just checked");
        let [a, b] = [0, 1].map(|i| model.system.observes[i].value);
        prop_assert_eq!(a, b, "{} became {}", model.exprs.to_source(a), model.exprs.to_source(b));
    }
}
