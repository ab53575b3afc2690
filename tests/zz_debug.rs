//! x
mod support;
#[test]
fn dbg() {
    for foot in ["(0.3 + e^2)", "(0.3+e)", "(0.3+1e-14)"] {
        let rod = |p: &str, d: &str| format!("(x + {p}*cos(ph) - {d})^2 + (y + {p}*sin(ph))^2 = 1");
        let text = format!(
            "param e = 1e-30\ncoord x, y, ph\nkinetic (x'^2 + y'^2 + ph'^2)/2\npotential 9*y\n\
             constraint a: {}\nconstraint b: {}\nconstraint c: {}\n\
             start x ~ 0, y ~ -1, ph ~ 0, x' ~ 1\nrun t = 0..1\n",
            rod("0", "0"),
            rod("0.6", "0.6"),
            rod("0.3", foot)
        );
        let model = support::load(&text).model.unwrap();
        let setting = dalembert::simulate::Setting::new(&model).unwrap();
        let start = dalembert::simulate::start::start(&setting).unwrap();
        eprintln!("{:?}", start.state);
        let eq = dalembert::derive(&model, None).unwrap();
        eprintln!("{:?}", setting.nearly_dependent(&eq, &start.state));
    }
}
