//! The Python package, tested as its users have it: a wheel is built (in the profile of the other
//! tests, from what they have compiled already), put into a new virtual environment, and tested
//! there. Nothing is fetched: what the tests use is taken from the Python that is given.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root;
use crate::steps::{Outcome, run};

/// Succeeds in a Python that has all that building and testing takes.
pub const NEEDS: &str = "import distributed, ipykernel, jax, maturin, mypy, nbclient, numpy, pandas, \
                          pyarrow, pytest, scipy, sympy, venv";

/// Builds, installs, tests.
pub fn test(python: &Path) -> Outcome {
    // Programs are started in the root: a relative path is one from there, a name is looked for.
    let folder = root().join("target");
    let (wheels, clean) = (folder.join("wheels"), folder.join("python").join("clean"));
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(|error| error.to_string())?;
    }
    let start = |program: &Path| {
        let mut command = Command::new(program);
        command.current_dir(root());
        command
    };
    run(start(python).args(["-m", "maturin", "build", "--out"]).arg(&wheels))?;
    let wheel = only_wheel(&wheels)?;
    run(start(python).args(["-m", "venv", "--clear"]).arg(&clean))?;
    let inside = clean.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let install = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"];
    run(start(&inside).args(install).arg(&wheel))?;
    borrow(python, &inside)?;
    run(start(&inside).args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "python/tests"]))?;
    Ok(wheel.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned()))
}

fn only_wheel(folder: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let wheels = entries.flatten().map(|entry| entry.path());
    let mut wheels = wheels.filter(|path| path.extension().is_some_and(|e| e == "whl"));
    wheels.next().ok_or_else(|| "maturin left no wheel".to_owned())
}

/// Lets one Python use the packages of another, after its own.
fn borrow(from: &Path, to: &Path) -> Outcome {
    let place = |python: &Path| -> Result<String, String> {
        let program = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let done = Command::new(python).args(["-c", program]).output();
        let done = done.map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    };
    let list = Path::new(&place(to)?).join("borrowed.pth");
    fs::write(&list, format!("{}\n", place(from)?)).map_err(|error| error.to_string())?;
    Ok(String::new())
}
