//! The four things that are answered.

use crate::desk::{Desk, Values};
use crate::guard;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};

/// Values of some thousand sliders; nobody asks for more.
const LARGEST_BODY: usize = 256 * 1024;

/// Shown while there is no page yet: why, until there is one.
const WAITING: &str = include_str!("waiting.html");

pub(crate) fn router(desk: Arc<Desk>, port: u16) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/data", get(data))
        .route("/events", get(events))
        .route("/values", post(values))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(axum::middleware::from_fn_with_state(port, guard::guard))
        .with_state(desk)
}

async fn page(State(desk): State<Arc<Desk>>) -> Response {
    let mut state = desk.listen();
    // The first run takes a moment: the browser waits for it rather than for a second page.
    let _ = state.wait_for(|state| state.version > 0 || !state.running).await;
    let sheet = desk.sheet();
    let html =
        if sheet.html.is_empty() { Bytes::from_static(WAITING.as_bytes()) } else { sheet.html };
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response()
}

async fn data(State(desk): State<Arc<Desk>>) -> Response {
    let sheet = desk.sheet();
    if sheet.data.is_empty() {
        return (StatusCode::NOT_FOUND, "there is no run yet").into_response();
    }
    ([(header::CONTENT_TYPE, "application/json")], sheet.data).into_response()
}

async fn events(
    State(desk): State<Arc<Desk>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let states = WatchStream::new(desk.listen());
    Sse::new(states.map(|state| Ok(Event::default().data(state.to_json()))))
        .keep_alive(KeepAlive::default())
}

/// An object of numbers, each by the name of a slider; an empty one asks for the model's own.
async fn values(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> Response {
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| kind.as_bytes());
    if !kind.is_some_and(|kind| kind.starts_with(b"application/json")) {
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, "values are JSON").into_response();
    }
    match read(&body, &desk.sheet().names) {
        Ok(values) => {
            desk.ask(values);
            StatusCode::ACCEPTED.into_response()
        }
        Err(words) => (StatusCode::UNPROCESSABLE_ENTITY, words).into_response(),
    }
}

fn read(body: &[u8], names: &[String]) -> Result<Values, String> {
    let object = match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err("values are an object: numbers by name".to_owned()),
        Err(error) => return Err(format!("this is no JSON: {error}")),
    };
    let entry = |(name, value): (String, Value)| {
        if !names.contains(&name) {
            return Err(format!("there is no slider `{name}`"));
        }
        match value.as_f64().filter(|number| number.is_finite()) {
            Some(number) => Ok((name, number)),
            None => Err(format!("the value of `{name}` is no number")),
        }
    };
    object.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn values_are_numbers_of_known_names() {
        let names = ["m".to_owned(), "th[1]'".to_owned()];
        let values = read(br#"{"m": 2, "th[1]'": -0.5}"#, &names).unwrap();
        assert_eq!(values["m"], 2.0);
        assert_eq!(values["th[1]'"], -0.5);
        assert!(read(b"{}", &names).unwrap().is_empty());
        assert!(read(br#"{"m": "2"}"#, &names).unwrap_err().contains("no number"));
        assert!(read(br#"{"k": 2}"#, &names).unwrap_err().contains("`k`"));
        assert!(read(b"[1]", &names).unwrap_err().contains("object"));
        assert!(read(b"{", &names).unwrap_err().contains("no JSON"));
    }
}
