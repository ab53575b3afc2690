//! `dal view` without a browser: its page, its data, what it says of a broken file, its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const MODEL: &str = "system Pendulum
param l = 1, g = 9.81
coord th
kinetic l^2*th'^2/2
potential -g*l*cos(th)
start th = 0.5
run t = 0..1
draw line [0, 0], [l*sin(th), -l*cos(th)]
";

struct View {
    child: Child,
    address: String,
    file: PathBuf,
}

impl View {
    fn new(name: &str, text: &str) -> View {
        // A folder each: models that appear beside the one that is viewed have it run again.
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("viewed").join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join(name);
        std::fs::write(&file, text).expect("a file");
        let mut child = Command::new(env!("CARGO_BIN_EXE_dal"))
            .arg("view")
            .arg(&file)
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dal starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("text");
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        View { child, address, file }
    }

    /// Saves the file at once, so that a busy machine does not show half of it.
    fn save(&self, text: &str) {
        let fresh = self.file.with_extension("new");
        std::fs::write(&fresh, text).expect("a file");
        std::fs::rename(&fresh, &self.file).expect("a file");
    }

    fn send(&self, method: &str, path: &str, more: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let (host, length) = (&self.address, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}Content-Length: {length}\r\n\r\n{body}"
        )
        .expect("sent");
        BufReader::new(stream)
    }

    fn get(&self, path: &str) -> String {
        let mut text = String::new();
        self.send("GET", path, "Connection: close\r\n", "")
            .read_to_string(&mut text)
            .expect("text");
        text
    }

    /// What is told once it satisfies.
    fn hear(&self, is_it: impl Fn(&str) -> bool) -> String {
        let lines = self.send("GET", "/events", "", "").lines().map(|line| line.expect("text"));
        let mut told = lines.filter(|line| line.starts_with("data: "));
        told.find(|line| is_it(line)).expect("it goes on")
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_saved_file_is_run_a_broken_one_is_told_and_values_are_taken() {
    let view = View::new("saved.dal", MODEL);
    let page = view.get("/");
    assert!(page.contains("200 OK") && page.contains("\"system\":\"Pendulum\""));
    assert!(page.contains("\"served\":true"));
    assert!(view.get("/data").contains("\"verdict\":\"pass\""));

    view.save(&MODEL.replace("cos(th)", "cos(tt)"));
    let told = view.hear(|line| line.contains("\"stale\":true"));
    assert!(told.contains("tt") && told.contains("^^") && told.contains("\"version\":1"), "{told}");
    assert!(view.get("/data").contains("Pendulum"), "the last good run stays");

    view.save(&MODEL.replace("Pendulum", "Mended"));
    let told = view.hear(|line| line.contains("\"version\":2"));
    assert!(told.contains("\"trouble\":\"\""), "{told}");
    assert!(view.get("/data").contains("\"system\":\"Mended\""));

    let kind = "Content-Type: application/json\r\nConnection: close\r\n";
    let mut answer = String::new();
    let values = "{\"g\": 1.625, \"th\": 0.25}";
    view.send("POST", "/values", kind, values).read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    view.hear(|line| line.contains("\"version\":3,\"running\":false"));
    let data = view.get("/data");
    assert!(data.contains("1.625") && data.contains("\"values\":[[0.25,"), "{data:.2000}");
    assert!(view.get("/saved.dal").starts_with("HTTP/1.1 404"));
}

#[test]
fn a_run_that_fails_on_its_way_shows_what_there_is() {
    let text = MODEL.replace("start th = 0.5", "start th = 0.5\nforce th: -1/(0.5 - t)^2");
    let view = View::new("fails.dal", &text);
    let told = view.hear(|line| !line.contains("\"running\":true"));
    assert!(told.contains("\"version\":1") && told.contains("error["), "{told}");
    assert!(told.contains("\"stale\":false"), "{told}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it() {
    let mut view = View::new("ends.dal", MODEL);
    view.get("/");
    let id = view.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    assert_eq!(view.child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn what_cannot_be_served_is_refused() {
    let refused = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_dal")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["view", "-"]).contains("takes a file"));
    assert!(refused(&["view", "x.dal", "--tol", "7"]).contains("--tol"));
    let view = View::new("taken.dal", MODEL);
    let port = view.address.rsplit(':').next().unwrap();
    assert!(refused(&["view", "x.dal", "--port", port]).contains("is taken"));
}
