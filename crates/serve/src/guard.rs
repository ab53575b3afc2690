//! Which requests are answered at all.
//!
//! The server is on the loopback address, yet any page in the reader's browser can send requests
//! there. Three headers that a page cannot forge tell them apart: `Host`, which has another name
//! if that name was made to lead here (DNS rebinding); `Origin`, the page that asks; and
//! `Sec-Fetch-Site`, which says so where `Origin` is left out (images, scripts, frames). A link to
//! the page may be followed from anywhere.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Why a request is refused, or nothing.
pub(crate) fn fault(request: &Request, port: u16) -> Option<&'static str> {
    let headers = request.headers();
    // Browsers leave the usual port out.
    let own = |host: &str| {
        let (name, given) = host.rsplit_once(':').unwrap_or((host, "80"));
        matches!(name, "127.0.0.1" | "localhost") && given == port.to_string()
    };
    let named = request.uri().authority().is_none_or(|authority| own(authority.as_str()));
    match only(headers, &header::HOST) {
        Some(host) if own(host) && named => {}
        _ => return Some("this server answers to its own name only"),
    }
    if headers.contains_key(header::ORIGIN) {
        let origin = only(headers, &header::ORIGIN).and_then(|one| one.strip_prefix("http://"));
        if !origin.is_some_and(own) {
            return Some("pages of other origins are not answered");
        }
    }
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_link = request.method() == Method::GET
        && request.uri().path() == "/"
        && headers.get("sec-fetch-dest").is_some_and(|to| to == "document");
    match site {
        None | Some(b"same-origin" | b"none") => None,
        Some(_) if is_link => None,
        Some(_) => Some("pages of other sites are not answered"),
    }
}

/// The value of a header that is there once, as text.
fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

/// Refuses what must not be answered, and tells browsers what may be done with the rest.
pub(crate) async fn guard(State(port): State<u16>, request: Request, next: Next) -> Response {
    let mut response = match fault(&request, port) {
        Some(words) => (StatusCode::FORBIDDEN, words).into_response(),
        None => next.run(request).await,
    };
    let set = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in set {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
