//! The licenses of third-party packages, against a list of those allowed.

use serde_json::Value;

use crate::cargo;
use crate::spdx::Expression;
use crate::steps::{Outcome, program};

/// Licenses under which everything linked here may be passed on as part of a
/// program that is itself MIT or Apache-2.0. An exception counts only where it
/// is named together with its license.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Checks every package that `cargo metadata` lists; prints those at fault.
pub fn check() -> Outcome {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1"]);
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("{} did not start: {error}", program(&command)))?;
    if !output.status.success() {
        return Err(format!("{} ended with {}", program(&command), output.status));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = third_party(&metadata);
    let offenders: Vec<[String; 4]> =
        packages.iter().filter_map(|package| fault(package)).collect();
    if offenders.is_empty() {
        return Ok(format!("{} third-party packages, all under allowed licenses", packages.len()));
    }
    print!("{}", table(&offenders));
    Err(format!("{} of {} third-party packages", offenders.len(), packages.len()))
}

/// Packages that come from elsewhere: our own have no source.
fn third_party(metadata: &Value) -> Vec<&Value> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    packages.iter().filter(|package| !package["source"].is_null()).collect()
}

/// A row of the table of offenders, where a package is one.
fn fault(package: &Value) -> Option<[String; 4]> {
    let text = |key: &str| package[key].as_str().unwrap_or("").to_owned();
    let license = text("license");
    let why = if license.is_empty() {
        match package["license_file"].as_str() {
            Some(file) => format!("no expression, only the file {file}"),
            None => "no license stated".to_owned(),
        }
    } else {
        match Expression::parse(&license) {
            Ok(expression) if expression.permits(ALLOWED) => return None,
            Ok(_) => "not allowed".to_owned(),
            Err(reason) => format!("not understood: {reason}"),
        }
    };
    Some([text("name"), text("version"), license, why])
}

/// Rows in aligned columns under a heading.
fn table(rows: &[[String; 4]]) -> String {
    let heading = ["package", "version", "license", "why"].map(str::to_owned);
    let width = |column: usize| {
        let cells = std::iter::once(&heading).chain(rows).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [name, version, license, why] in std::iter::once(&heading).chain(rows) {
        let [a, b, c] = widths;
        text += &format!("{name:a$}  {version:b$}  {license:c$}  {why}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn our_own_packages_are_not_third_party() {
        let metadata = json!({"packages": [
            {"name": "ours", "source": null, "license": null},
            {"name": "theirs", "source": "registry", "license": "MIT"},
        ]});
        let names: Vec<&Value> =
            third_party(&metadata).iter().map(|package| &package["name"]).collect();
        assert_eq!(names, ["theirs"]);
    }

    #[test]
    fn a_package_is_at_fault_for_its_license_or_for_having_none() {
        let why = |package: Value| fault(&package).map(|row| row[3].clone());
        assert_eq!(why(json!({"license": "MIT OR GPL-3.0-only"})), None);
        assert_eq!(why(json!({"license": "GPL-3.0-only"})).unwrap(), "not allowed");
        assert_eq!(why(json!({"license": "MIT AND GPL-3.0-only"})).unwrap(), "not allowed");
        assert_eq!(why(json!({"license": null})).unwrap(), "no license stated");
        assert!(why(json!({"license": "MIT OR"})).unwrap().starts_with("not understood"));
        assert_eq!(
            why(json!({"license": null, "license_file": "TERMS"})).unwrap(),
            "no expression, only the file TERMS"
        );
    }

    #[test]
    fn offenders_stand_in_columns() {
        let rows = [["long-name", "1.0.0", "GPL-3.0-only", "not allowed"].map(str::to_owned)];
        assert_eq!(
            table(&rows),
            "package    version  license       why\n\
             long-name  1.0.0    GPL-3.0-only  not allowed\n"
        );
    }
}
