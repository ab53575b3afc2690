//! The program as a user meets it: exit status, streams, files.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn dal(arguments: &[&str], input: Option<&[u8]>) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dal starts");
    if let Some(input) = input {
        // A program that has seen enough may close its end early.
        let _ = child.stdin.take().expect("piped").write_all(input);
    }
    child.wait_with_output().expect("dal ends")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

const PENDULUM: &[u8] = b"param m = 1, l = 2, g = 9.81\ncoord x, y\nkinetic m/2*(x'^2 + y'^2)\n\
    potential m*g*y\nconstraint rod: x^2 + y^2 = l^2\n";

#[test]
fn check_tells_what_a_model_consists_of() {
    let output = dal(&["check", "-"], Some(PENDULUM));
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    insta::assert_snapshot!(out(&output));
    assert_eq!(err(&output), "");
}

#[test]
fn faults_go_to_standard_error_and_end_with_one() {
    let output = dal(&["check", "-"], Some(b"coord x\nkinetic y'^2\n"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(out(&output), "");
    assert!(err(&output).contains("error[unknown-name]") && err(&output).contains("1 fault"));
}

#[test]
fn check_json_is_one_object() {
    for (input, verdict) in
        [(PENDULUM, "no faults"), (&b"coord x"[..], "faults"), (&b""[..], "faults")]
    {
        let output = dal(&["check", "-", "--json"], Some(input));
        let value: serde_json::Value = serde_json::from_str(&out(&output)).expect("JSON");
        assert_eq!(value["format"], 1);
        assert_eq!(value["verdict"], verdict);
        assert_eq!(output.status.code(), Some((verdict == "faults") as i32));
    }
    let output = dal(&["check", "no-such-file.dal", "--json"], None);
    let value: serde_json::Value = serde_json::from_str(&out(&output)).expect("JSON");
    assert_eq!(value["diagnostics"][0]["code"], "unreadable-file");
}

#[test]
fn derive_as_text_latex_and_json() {
    let output = dal(&["derive", "-"], Some(PENDULUM));
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    insta::assert_snapshot!("derive_text", out(&output));
    let output = dal(&["derive", "-", "--format", "latex"], Some(PENDULUM));
    insta::assert_snapshot!("derive_latex", out(&output));
    let output = dal(&["derive", "-", "--format", "json"], Some(PENDULUM));
    let value: serde_json::Value = serde_json::from_str(&out(&output)).expect("JSON");
    assert_eq!(value["jacobian"]["entries"], serde_json::json!([[0, 0, "2*x"], [0, 1, "2*y"]]));
    assert_eq!(value["formulation"], "lagrange");
}

#[test]
fn overrides_reach_constants_and_parameters() {
    let output = dal(&["check", "gallery:n-link-chain", "--set", "N=7,g=1", "--json"], None);
    let value: serde_json::Value = serde_json::from_str(&out(&output)).expect("JSON");
    assert_eq!(value["coordinates"].as_array().map(Vec::len), Some(7));
    assert_eq!(value["parameters"]["g"], 1.0);
    let output = dal(&["check", "gallery:n-link-chain", "--set", "M=7"], None);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("unknown-override"), "{}", err(&output));
}

#[test]
fn wrong_usage_ends_with_two() {
    for arguments in [
        &["derive"][..],
        &["chek", "x.dal"],
        &["derive", "-", "--formulation", "newton"],
        &["derive", "-", "--fragment"],
        &["explain", "no-such-code"],
        &["gallery", "no-such-page"],
        &[],
    ] {
        assert_eq!(dal(arguments, Some(PENDULUM)).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn unreadable_and_foreign_files_are_faults() {
    let folder = folder("unreadable");
    let latin = folder.join("latin.dal");
    std::fs::write(&latin, b"system M\xfcller\ncoord x\n").expect("written");
    let output = dal(&["check", latin.to_str().expect("UTF-8")], None);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("error[not-utf8]"), "{}", err(&output));
    let output = dal(&["check", "double-pendulum"], None);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("gallery:double-pendulum"), "{}", err(&output));
}

#[test]
fn new_writes_a_model_without_faults_and_overwrites_nothing() {
    let folder = folder("new");
    let path = folder.join("my-pendulum");
    let name = path.to_str().expect("UTF-8");
    assert_eq!(dal(&["new", name], None).status.code(), Some(0));
    let file = path.with_extension("dal");
    let output = dal(&["check", file.to_str().expect("UTF-8")], None);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("my pendulum"));
    assert_eq!(dal(&["new", name], None).status.code(), Some(2));
}

#[test]
fn parts_are_read_from_files() {
    let folder = folder("parts");
    std::fs::create_dir_all(folder.join("lib")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    write(
        "lib/mass.dal",
        "param m = 1\ncoord x\npart s = \"spring.dal\" { y = x }\nkinetic m/2*x'^2\nstart x = 1\n",
    );
    write(
        "lib/spring.dal",
        "param k = 3, y = 0\npotential k/2*y^2\ncoord dummy\nkinetic dummy'^2\n",
    );
    write(
        "main.dal",
        "system Two\npart a = \"lib/mass.dal\" { m = 2 }\npart b = \"lib/mass.dal\"\nstart b.x = 4\n",
    );
    let main = folder.join("main.dal");
    let output = dal(
        &["derive", main.to_str().expect("UTF-8"), "--set", "b.s.k=5", "--format", "json"],
        None,
    );
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let value: serde_json::Value = serde_json::from_str(&out(&output)).expect("JSON");
    assert_eq!(value["q"], serde_json::json!(["a.x", "a.s.dummy", "b.x", "b.s.dummy"]));
    assert_eq!(value["force"][2], "-b.s.k*b.x");
    write("loop.dal", "part a = \"loop.dal\"\ncoord x\nkinetic x'^2\n");
    let output = dal(&["check", folder.join("loop.dal").to_str().expect("UTF-8")], None);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("error[part-cycle]"), "{}", err(&output));
    write("missing.dal", "part a = \"nothing.dal\"\ncoord x\nkinetic x'^2\n");
    let output = dal(&["check", folder.join("missing.dal").to_str().expect("UTF-8")], None);
    assert!(err(&output).contains("error[unreadable-file]"), "{}", err(&output));
}

#[test]
fn every_code_is_explained_and_every_page_listed() {
    for code in dalembert::model::codes::ALL {
        let output = dal(&["explain", code.name()], None);
        assert_eq!(output.status.code(), Some(0));
        assert!(out(&output).lines().count() >= 5, "{code} is explained in too few words");
    }
    let listed = out(&dal(&["gallery"], None));
    for page in dalembert::gallery::pages() {
        assert!(listed.contains(page.name) && listed.contains(page.title()));
    }
}

#[test]
fn every_page_runs() {
    for page in dalembert::gallery::pages() {
        let output = dal(&["gallery", page.name, "--run"], None);
        // A page about a motion that is not unique cannot be run, and says so.
        let code = output.status.code();
        assert!(code == Some(0) || code == Some(3), "{}: {}", page.name, err(&output));
        let said = out(&output) + &err(&output);
        assert!(said.contains("no faults") && said.contains("verdict"), "{}: {said}", page.name);
    }
    assert_eq!(dal(&["gallery", "--run"], None).status.code(), Some(2));
}

#[test]
fn completions_and_version() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(out(&dal(&["completions", shell], None)).contains("dal"));
    }
    assert!(out(&dal(&["--version"], None)).starts_with("dal 0."));
}
