//! An answer's body that is given up where nothing of it comes for a while.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use object_store::client::{HttpError, HttpErrorKind};
use tokio::time::{Instant, Sleep, sleep};

use super::http::explain_hyper;

const SILENCE_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) struct TimedBody {
    body: Incoming,
    silence: Pin<Box<Sleep>>,
}

impl TimedBody {
    pub(super) fn new(body: Incoming) -> Self {
        Self { body, silence: Box::pin(sleep(SILENCE_TIMEOUT)) }
    }
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.silence.as_mut().reset(Instant::now() + SILENCE_TIMEOUT);
            return Poll::Ready(frame.map(|frame| frame.map_err(explain_hyper)));
        }
        std::task::ready!(self.silence.as_mut().poll(context));
        let error = io::Error::new(io::ErrorKind::TimedOut, "it has stopped in the middle of an answer");
        Poll::Ready(Some(Err(HttpError::new(HttpErrorKind::Timeout, error))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
