//! A rolling disk, built without text: `cargo run --example rolling_disk`.

use dalembert::build::Builder;

fn main() {
    let b = Builder::new("Rolling disk");
    let (m, r, g) = (b.param("m", 1), b.param("r", 0.3), b.param("g", 9.81));
    let (x, y, z) = (b.coord("x"), b.coord("y"), b.coord("z"));
    let (psi, phi, theta) = (b.coord("psi"), b.coord("phi"), b.coord("theta"));

    let rotation = b.define("R", b.rz(psi) * b.rx(phi) * b.ry(theta));
    let across = m * r.powi(2) / 4;
    b.gravity((0, 0, -g));
    let disk = b.body("disk", m, [across, 2 * across, across], [x, y, z], rotation);

    // The point of contact, seen from the center: straight down in the disk's plane.
    let (axle, up) = (b.define("a", rotation * [0, 1, 0]), b.vector([0, 0, 1]));
    let steep = b.define("steep", up - up.dot(axle) * axle);
    b.constraint("roll", disk.velocity_at(-r * steep / steep.norm()), 0);
    b.start(z, r * phi.cos());
    b.start(phi, 0.2);
    b.start(theta.prime(), 5);

    match b.finish() {
        Ok(model) => {
            let equations = dalembert::derive(&model, None).expect("Lagrange's equations apply");
            println!("{}", dalembert::export::Derivation::new(&model, &equations).to_text());
        }
        Err(wrong) => {
            eprintln!(
                "{}",
                dalembert::model::render::render(&wrong.diagnostics, &wrong.sources, false)
            );
        }
    }
}
