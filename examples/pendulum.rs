//! A pendulum, built, run, looked at and compiled: `cargo run --example pendulum`.

use dalembert::prelude::*;

/// Builds, runs, looks, compiles.
pub fn main() -> Result<(), Error> {
    let b = Builder::new("pendulum");
    let (m, l, g) = (b.param("m", 1), b.param("l", 2), b.param("g", 9.81));
    let (x, y) = (b.coord("x"), b.coord("y"));
    b.kinetic(m * (x.prime().powi(2) + y.prime().powi(2)) / 2);
    b.potential(m * g * y);
    let rod = b.constraint("rod", x.powi(2) + y.powi(2), l.powi(2));
    b.start(x, 2);
    let model = b.finish()?; // an error shows the line, underlined

    let motion = model.simulate(0.0..10.0).tolerance(1e-10).every(0.5).run()?;
    motion.certificate().check()?; // constraints, energy, Gauss's principle, global error
    for s in motion.samples() {
        println!("{:5.2} {:9.5} {:9.5}", s.t, s[&x], s.multiplier(&rod));
    }
    println!("at t = 3.21 x is {:.8}", motion.at(3.21)?[&x]); // dense output

    let system = model.compile()?; // for threads to share
    let mut work = system.work();
    for length in [0.5, 1.0, 2.0] {
        work.set(l, length)?;
        let a = work.accelerations(0.0, &[0.0, -length], &[1.0, 0.0])?;
        println!("passing below a rod of {length} at speed 1: y'' = {}", a[1]);
    }
    Ok(())
}
