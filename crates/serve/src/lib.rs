//! Serves one page on the loopback address, and makes it anew when something changes.
//!
//! The page is `/`, its data `/data`; `/events` says by server-sent events what happens, and
//! `/values` takes the numbers of released sliders. There is nothing else: no path of a request
//! ever reaches the file system. `guard` refuses requests that a page of another origin, or
//! another name that was bent to this address, could make.
//!
//! What the page is made of is the [`Source`]'s affair: this crate knows no mechanics. One
//! thread works (`work`); what it makes is shared with the answers through a `Desk`.

mod answers;
mod desk;
mod guard;
mod work;

pub use work::{Made, Source};

use desk::Desk;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether to end, and whether the source has changed.
const PAUSE: Duration = Duration::from_millis(150);

/// An address that is taken, and not served yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Takes a port of the loopback address; 0 takes any that is free.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address })
    }

    /// Where the page is.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until `is_over` says so.
    pub fn run(self, source: impl Source, is_over: impl Fn() -> bool) -> io::Result<()> {
        let desk = Arc::new(Desk::default());
        let worker = {
            let desk = desk.clone();
            std::thread::spawn(move || work::work(&source, &desk))
        };
        let served = self.answer(&desk, is_over);
        desk.end();
        // A worker that panicked has told why; the address is given back either way.
        let _ = worker.join();
        served
    }

    fn answer(self, desk: &Arc<Desk>, is_over: impl Fn() -> bool) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let router = answers::router(desk.clone(), self.address.port());
            let serving = tokio::spawn(async move { axum::serve(listener, router).await });
            // Streams of events never end by themselves, so nothing is waited for.
            while !is_over() && !serving.is_finished() {
                tokio::time::sleep(PAUSE).await;
            }
            if serving.is_finished() {
                return serving.await.map_err(io::Error::other)?;
            }
            serving.abort();
            Ok(())
        })
    }
}
