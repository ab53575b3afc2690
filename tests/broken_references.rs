//! No statement is dropped in silence: whatever reference in a model is broken, a fault
//! points into the statement that holds it.
//!
//! Models are those of the gallery and one that has every kind of statement. In each
//! case one expression, anywhere in it, gives place to a reference to something that
//! is not there: an entry outside of a family (empty or not), a name that nothing
//! declares, a label, a member.

#[path = "properties/random.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod random;

use dalembert::model::load::Syntax;
use dalembert::model::span::Span;
use dalembert::model::tree::{Expr, ExprKind, Statement, StatementKind};
use dalembert::model::walk;
use dalembert::{Input, Options, Severity, load};
use random::Random;

/// Every kind of statement, in the model itself, in loops and in parts.
const EVERYTHING: &str = r#"
system Everything
const N = 3, K[1..2] = [2, 3]
param m[1..N] = [1, 2, 3], g = 9.81, k = 20, c = 0.1*k, mu = 0.2
coord x[1..N], y[1..N], th, z
let pull(u, n) = k*u + m[1]*n
let top = [x[N], y[N]]
for i in 1..N {
  let r[i] = [x[i], y[i]]
  let step = if(i > 1, x[i-1], 0)
  particle bob[i]: mass m[i], at r[i]
  potential k/2*(x[i] - step)^2
  force x[i]: -c*x[i]'
  constraint level[i]: y[i] = 0.1*x[i]^2
  start x[i] ~ 0.1*i
}
model rod {
  const M = 1
  param m = 1, l = 1
  coord s, f[1..M]
  kinetic m/2*l^2*(s'^2 + f[1]'^2)
  constraint held: s = 2*f[1]
  observe s + f[1]
  run t = 0..l
}
part left = rod { m = 2*k, l = 1 + m[2] }
for j in 1..2 { part row[j] = rod { m = j } }
body wheel: mass 2, inertia 3, at [z, 1], turning th
gravity [0, -g]
kinetic sum(i in 1..K[1], x[i]'^2)/10
potential pull(z, 1)^2/2 + left.s^2 + row[2].f[1]^2
dissipation c/2*sum(i in 1..N, j in 1..K[2], x[i]'^2 + mod(j, 2)*z'^2)
speed w = z' + th'
force [1, 2*sin(t)] at top
force left.m*z' along z'
nonideal z: -mu*abs(multiplier(roll))*sign(z')
constraint roll: z' = 0.5*th'
constraint two: [left.s, row[1].s] = [row[2].s, 0]
start th = 0.3, z' ~ 0.5, left.s ~ 0.1
run t = 0..m[1]*5, every 1/k, tol 1e-10
observe energy, force = reaction(z, roll), multiplier(two), multiplier(level[2]), p_x[1]
observe tip = norm(top), w, wheel.point([1, 0])[1], bob[2].velocity, residual(left.held)
event hit: z = 2*pi rising -> z' = -0.5*z', th' = -th'
event far: x[1] = K[1]
draw line [0, 0], top, r[1]
draw circle wheel.position, 0.5
"#;

/// Declared at the end of every model, so that what is put in can refer to them.
const FAMILIES: &str = "param qqp[1..2] = 1, qqn[1..0] = 1
const qqk[1..2] = 3, qqj[1..0] = 3
coord qqc[1..2], qqe[1..0]
for qqi in 1..2 { let qql[qqi] = qqc[qqi]^2 ; kinetic qqp[qqi]*qqc[qqi]'^2 }
for qqi in 1..0 {
  let qqlet[qqi] = 1
  let qqlocal = 1
  particle qqbob[qqi]: mass 1, at [qqe[qqi], 0]
  constraint qqpin[qqi]: qqe[qqi] = 0
  part qqpart[qqi] = qqmodel
  coord qqonly
}
model qqmodel { coord u, v[1..0] ; kinetic u'^2 ; for i in 1..0 { let inner = 1 } }
part qqone = qqmodel
for qqi in 1..2 { part qqmany[qqi] = qqmodel }
";

const BROKEN: [&str; 34] = [
    "qqunknown",
    "qqunknown[1]",
    "qqunknown(1)",
    "qqunknown.x",
    "qqp[0]",
    "qqp[3]",
    "qqp[-1]",
    "qqn[1]",
    "qqk[3]",
    "qqj[1]",
    "qqc[3]",
    "qqc[3]'",
    "qqe[4]",
    "qqe[1]'",
    "p_qqc[3]",
    "p_qqe[1]",
    "qql[3]",
    "qql[0]'",
    "qqlet[1]",
    "qqlocal",
    "qqonly",
    "qqbob[1].position[1]",
    "qqpart[1].u",
    "qqmany[3].u",
    "qqone.nothing",
    "qqone.v[1]",
    "qqone.inner",
    "multiplier(qqpin[1])",
    "multiplier(qqnolabel)",
    "reaction(qqe[1])",
    "reaction(qqc[1], qqpin[1])",
    "sum(qqi in 1..2, qqp[qqi + 1])",
    "product(qqi in 0..1, qqc[qqi])",
    "if(qqc[1] > 0, qqe[1], 0)",
];

struct Source {
    name: String,
    text: String,
    syntax: Syntax,
}

/// A place where something can be broken: the expression, and the statement around it.
struct Site {
    expr: Span,
    statement: Span,
}

fn sources() -> Vec<Source> {
    let mut list = vec![Source {
        name: "everything".to_owned(),
        text: format!("{EVERYTHING}\n{FAMILIES}"),
        syntax: Syntax::Plain,
    }];
    for page in dalembert::gallery::pages() {
        let input = Input::open(&format!("gallery:{}", page.name)).expect("in the gallery");
        let block = format!("{}\n\n```dal\n{FAMILIES}```\n", input.text);
        list.push(Source { name: page.name.to_owned(), text: block, syntax: input.syntax });
    }
    list
}

fn read(source: &Source, text: &str) -> dalembert::Loaded {
    let input = Input {
        name: source.name.clone(),
        text: text.to_owned(),
        syntax: source.syntax,
        folder: None,
    };
    load(&input, &Options::default())
}

fn sites(loaded: &dalembert::Loaded) -> Vec<Site> {
    let mut list = Vec::new();
    let mut pending: Vec<&Statement> = loaded.file.statements.iter().collect();
    while let Some(statement) = pending.pop() {
        match &statement.kind {
            StatementKind::For { range, body, .. } => {
                // The statement itself is its first line.
                let head = statement.keyword.to(range.to.span);
                for expr in [&range.from, &range.to] {
                    list.push(Site { expr: expr.span, statement: head });
                }
                pending.extend(body.iter());
            }
            StatementKind::Model { body, .. } => pending.extend(body.iter()),
            _ => {
                for expr in walk::of_statement(statement) {
                    below(expr, statement.span, &mut list);
                }
            }
        }
    }
    for check in &loaded.file.checks {
        for expr in walk::of_check(&check.kind) {
            below(expr, check.span, &mut list);
        }
    }
    // What was added is not to be broken.
    list.retain(|site| !loaded.sources.snippet(site.statement).contains("qq"));
    list
}

/// An expression and all inside of it that can give place to another.
fn below(expr: &Expr, statement: Span, list: &mut Vec<Site>) {
    let is_condition =
        matches!(expr.kind, ExprKind::Compare(..) | ExprKind::And(_) | ExprKind::Or(_));
    if !is_condition {
        list.push(Site { expr: expr.span, statement });
    }
    // The base of `x[1]'` or `sin(x)` is a name, not an expression by itself.
    let skip = usize::from(matches!(expr.kind, ExprKind::Postfix(..)));
    for child in walk::children(expr).into_iter().skip(skip) {
        below(child, statement, list);
    }
}

/// What is wrong with what is said, if something is.
fn problem(source: &Source, site: &Site, broken: &str) -> Option<String> {
    let (from, to) = (site.expr.start as usize, site.expr.end as usize);
    let text = format!("{}({broken}){}", &source.text[..from], &source.text[to..]);
    let loaded = read(source, &text);
    let first = site.statement.start as usize;
    let last = site.statement.end as usize + broken.len() + 2 - (to - from);
    let faults: Vec<_> =
        loaded.diagnostics.iter().filter(|d| d.severity == Severity::Fault).collect();
    let points = faults
        .iter()
        .flat_map(|d| &d.labels)
        .any(|label| label.span.start as usize >= first && label.span.end as usize <= last + 1);
    if points && loaded.model.is_none() {
        return None;
    }
    let said: Vec<&String> = faults.iter().map(|d| &d.message).collect();
    Some(format!("{}: `{broken}` in `{}`: {said:?}", source.name, &text[first..last]))
}

#[test]
fn a_broken_reference_is_a_fault_in_its_statement() {
    let sources = sources();
    let mut random = Random::new(12);
    let mut wrong = Vec::new();
    let mut cases = 0;
    let mut places: Vec<(&Source, Vec<Site>)> = Vec::new();
    for source in &sources {
        let loaded = read(source, &source.text);
        // Pages that show faults are about other things.
        if !loaded.is_faulty() {
            places.push((source, sites(&loaded)));
        }
    }
    assert_eq!(places[0].0.name, "everything", "it has no faults");
    assert!(places.len() > 40, "most of the gallery");
    // Every place of the model with everything, and as many in the others.
    let (everything, all) = &places[0];
    for site in all {
        for _ in 0..3 {
            let broken = BROKEN[random.below(BROKEN.len())];
            wrong.extend(problem(everything, site, broken));
            cases += 1;
        }
    }
    for _ in 0..600 {
        let (source, list) = &places[1 + random.below(places.len() - 1)];
        if !list.is_empty() {
            let broken = BROKEN[random.below(BROKEN.len())];
            wrong.extend(problem(source, &list[random.below(list.len())], broken));
            cases += 1;
        }
    }
    assert!(cases > 1000, "{cases} cases");
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What must not be taken for broken: families and loops without entries.
#[test]
fn families_and_loops_may_be_empty() {
    let text = "const N = 0\ncoord x, y[1..N]\nparam m[1..N] = 2\nmodel link { param k[1..0] = 1 ; \
        coord u ; kinetic u'^2 }\npart one = link { k = 3 }\nfor i in 1..N {\n\
        let r[i] = y[i]^2\nparticle bob[i]: mass m[i], at [y[i], 0]\nforce y[i]: r[i]\n\
        constraint pin[i]: y[i] = x\nstart y[i] = 1\nobserve r[i], sin(energy)\nevent hit[i]: y[i] = 0\n}\n\
        let f(i) = if(i > 0, y[1], x)\n\
        kinetic x'^2/2 + dot(y', y') + sum(i in 1..N, m[i]*y[i]'^2) + 0*f(0)\n\
        observe multiplier(pin), reaction(x, pin), sum(i in 1..N, pi*t*kinetic)\n\
        potential x^2/2 + if(N > 0, y[1], 0) + product(i in 1..N, y[i])\nstart x = 1, y = 0\n";
    for set in [vec![], vec!["m=3".to_owned()]] {
        let options = Options { set, ..Options::default() };
        let loaded = load(&Input::text("model", text), &options);
        assert!(!loaded.is_faulty(), "{:?}", loaded.diagnostics);
        let model = loaded.model.expect("a model");
        assert_eq!(model.system.n_coordinates(), 2);
        assert!(model.system.constraints.is_empty() && model.system.forces.is_empty());
    }
}

/// The trial that showed it.
#[test]
fn an_entry_of_an_empty_family_does_not_remove_its_statement() {
    let text = "const N = 0\ncoord x, y[1..N]\nkinetic x'^2/2\npotential x^2/2\n\
        constraint c: x = y[4] + 1\nforce x: y[2]\nstart x = 1\n";
    let loaded = load(&Input::text("model", text), &Options::default());
    let said: Vec<&str> = loaded.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(said, ["there is no `y[4]`", "there is no `y[2]`"]);
}
