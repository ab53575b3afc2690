//! The server seen from outside, by raw requests: what it answers, and what it refuses.

use dalembert_serve::{Made, Server, Source};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A source whose text the tests set: `!` at its beginning is a fault, `panic` a bug.
#[derive(Clone, Default)]
struct Text {
    stamp: Arc<AtomicU64>,
    text: Arc<Mutex<String>>,
    calls: Arc<AtomicU64>,
}

impl Text {
    fn set(&self, text: &str) {
        text.clone_into(&mut self.text.lock().unwrap());
        self.stamp.fetch_add(1, Ordering::SeqCst);
    }
}

impl Source for Text {
    fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::SeqCst)
    }

    fn make(&self, values: &[(String, f64)], stop: &dyn Fn() -> bool) -> Made {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let text = self.text.lock().unwrap().clone();
        assert!(text != "panic", "a bug for the test");
        if text == "forever" {
            while !stop() {
                std::thread::sleep(Duration::from_millis(5));
            }
            return Made::Stopped;
        }
        if let Some(words) = text.strip_prefix('!') {
            return Made::Fault(words.to_owned());
        }
        Made::Page {
            html: format!("<p>{text}"),
            data: format!("{{\"text\":\"{text}\",\"values\":\"{values:?}\"}}"),
            names: vec!["m".to_owned(), "l".to_owned()],
            trouble: String::new(),
        }
    }
}

struct Running {
    port: u16,
    source: Text,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn new(text: &str) -> Running {
        let source = Text::default();
        source.set(text);
        let server = Server::bind(0).unwrap();
        let url = server.url();
        let port = url.trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (own, ended) = (source.clone(), over.clone());
        let thread = std::thread::spawn(move || {
            server.run(own, move || ended.load(Ordering::SeqCst)).unwrap();
        });
        Running { port, source, over, thread: Some(thread) }
    }

    /// Sends a request as it is and gives the whole answer.
    fn raw(&self, text: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    fn get(&self, path: &str, headers: &str) -> String {
        let host = format!("Host: 127.0.0.1:{}\r\n", self.port);
        self.raw(&format!("GET {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n"))
    }

    fn post(&self, headers: &str, body: &str) -> String {
        let port = self.port;
        self.raw(&format!(
            "POST /values HTTP/1.1\r\nHost: localhost:{port}\r\n{headers}Content-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        ))
    }

    /// Listens to what is told until a line satisfies.
    fn hear(&self, is_it: impl Fn(&str) -> bool) -> String {
        let mut stream = self.connect();
        let port = self.port;
        write!(stream, "GET /events HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n").unwrap();
        let lines = BufReader::new(stream).lines().map(Result::unwrap);
        let mut data = lines.filter(|line| line.starts_with("data: "));
        data.find(|line| is_it(line)).expect("the stream goes on until then")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn the_page_and_its_data_are_served_and_nothing_else() {
    let server = Running::new("one");
    let page = server.get("/", "");
    assert_eq!(status(&page), "200");
    assert!(page.ends_with("<p>one"), "{page}");
    assert!(page.contains("x-frame-options: DENY"), "{page}");
    assert!(server.get("/data", "").contains("\"text\":\"one\""));
    for path in [
        "/Cargo.toml",
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "//etc/passwd",
        "/src/lib.rs",
        "/data/",
        "/.git/config",
    ] {
        assert_eq!(status(&server.get(path, "")), "404", "{path}");
    }
}

#[test]
fn other_hosts_are_refused() {
    let server = Running::new("one");
    server.get("/", ""); // From here on there are data.
    let port = server.port;
    let ask =
        |host: &str| server.raw(&format!("GET /data HTTP/1.1\r\n{host}Connection: close\r\n\r\n"));
    assert_eq!(status(&ask(&format!("Host: localhost:{port}\r\n"))), "200");
    for host in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        "Host: localhost:1\r\n".to_owned(),
        format!("Host: localhost:{port}\r\nHost: evil.example\r\n"),
        String::new(),
    ] {
        let answer = ask(&host);
        assert!(matches!(status(&answer), "403" | "400"), "{host}: {answer}");
        assert!(!answer.contains("one"), "{host}: {answer}");
    }
    let absolute = format!(
        "GET http://evil.example/data HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(status(&server.raw(&absolute)), "403");
}

#[test]
fn other_origins_are_refused() {
    let server = Running::new("one");
    server.get("/", ""); // From here on there are data.
    let port = server.port;
    for path in ["/", "/data", "/events", "/values", "/nothing"] {
        for origin in ["http://evil.example", "null", "https://localhost", "http://localhost:1"] {
            let answer = server.get(path, &format!("Origin: {origin}\r\n"));
            assert_eq!(status(&answer), "403", "{path} {origin}: {answer}");
        }
        let answer = server.get(path, "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: script\r\n");
        assert_eq!(status(&answer), "403", "{path}: {answer}");
    }
    let own = format!("Origin: http://localhost:{port}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(status(&server.get("/data", &own)), "200");
    let link = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: document\r\n";
    assert_eq!(status(&server.get("/", link)), "200", "a link may be followed");
    assert_eq!(status(&server.get("/data", link)), "403");
    let frame = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: iframe\r\n";
    assert_eq!(status(&server.get("/", frame)), "403");
    let evil = format!("{JSON}Origin: http://evil.example\r\n");
    assert_eq!(status(&server.post(&evil, "{\"m\":2}")), "403");
    assert_eq!(server.source.calls.load(Ordering::SeqCst), 1, "nothing was run by that");
}

#[test]
fn values_are_taken_and_wrong_ones_are_not() {
    let server = Running::new("one");
    server.get("/", "");
    assert_eq!(status(&server.post(JSON, "{\"m\":2.5}")), "202");
    server.hear(|line| line.contains("\"version\":2,\"running\":false"));
    let data = server.get("/data", "");
    assert!(data.contains("2.5"), "{data}");
    assert_eq!(status(&server.post(JSON, "{\"l\":7}")), "202");
    server.hear(|line| line.contains("\"version\":3,\"running\":false"));
    let data = server.get("/data", "");
    assert!(data.contains("2.5") && data.contains("7.0"), "values add up: {data}");
    assert_eq!(status(&server.post(JSON, "{}")), "202");
    server.hear(|line| line.contains("\"version\":4,\"running\":false"));
    assert!(server.get("/data", "").contains("\"values\":\"[]\""), "none are the model's own");
    assert_eq!(status(&server.post(JSON, "{\"m\":9}")), "202");
    server.hear(|line| line.contains("\"version\":5,\"running\":false"));
    server.source.set("saved");
    server.hear(|line| line.contains("\"version\":6,\"running\":false"));
    assert!(server.get("/data", "").contains("\"values\":\"[]\""), "a saved file goes before");
    assert_eq!(status(&server.post(JSON, "{\"k\":2}")), "422");
    assert_eq!(status(&server.post(JSON, "{\"m\":1e999}")), "422");
    assert_eq!(status(&server.post(JSON, "")), "422");
    assert_eq!(status(&server.post("Content-Type: text/plain\r\n", "{\"m\":2}")), "415");
    let long = format!("{{\"m\":{}1}}", " ".repeat(300 * 1024));
    assert_eq!(status(&server.post(JSON, &long)), "413");
}

#[test]
fn a_fault_is_told_the_last_page_stays_and_a_mended_source_is_served() {
    let server = Running::new("one");
    server.get("/", "");
    server.source.set("!line 3 is wrong");
    let told = server.hear(|line| line.contains("\"running\":false") && line.contains("wrong"));
    assert!(told.contains("\"version\":1") && told.contains("line 3 is wrong"), "{told}");
    assert!(server.get("/", "").ends_with("<p>one"));
    server.source.set("panic");
    server.hear(|line| line.contains("a bug of the program"));
    server.source.set("two");
    let told = server.hear(|line| line.contains("\"version\":2"));
    assert!(told.contains("\"trouble\":\"\""), "{told}");
    assert!(server.get("/", "").ends_with("<p>two"));
}

#[test]
fn a_source_that_is_wrong_from_the_start_is_waited_for() {
    let server = Running::new("!not yet");
    let page = server.get("/", "");
    assert!(status(&page) == "200" && page.contains("There is no motion to show yet"), "{page}");
    assert_eq!(status(&server.get("/data", "")), "404");
    server.source.set("now");
    server.hear(|line| line.contains("\"version\":1"));
    assert!(server.get("/", "").ends_with("<p>now"));
}

#[test]
fn long_work_is_left_when_the_source_changes() {
    let server = Running::new("forever");
    server.hear(|line| line.contains("\"running\":true"));
    server.source.set("two");
    server.hear(|line| line.contains("\"version\":1"));
    assert!(server.get("/", "").ends_with("<p>two"));
}
