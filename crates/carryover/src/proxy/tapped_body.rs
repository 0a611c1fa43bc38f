//! Bodies that pass by: every frame goes on as it came, and a copy of its bytes to the recorder.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use carryover_engine::recording::{Ending, ExchangeTap};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

use super::connection::Lease;

/// The body of a request on its way to the service.
pub(super) struct RequestBody {
    inner: Incoming,
    tap: Arc<ExchangeTap>,
}

impl RequestBody {
    pub(super) fn new(inner: Incoming, tap: Arc<ExchangeTap>) -> Self {
        Self { inner, tap }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(bytes) = frame.data_ref()
        {
            self.tap.hear_request(bytes);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The body of an answer on its way to the client.
pub(super) enum ResponseBody {
    Passed {
        inner: Incoming,
        tap: Arc<ExchangeTap>,
        /// The connection that it comes by: once it has come to its end, the next request may use it; before, dropping
        /// it hangs up.
        lease: Option<Lease>,
    },
    /// Words of our own.
    Own(Option<Bytes>),
}

impl ResponseBody {
    pub(super) fn passed(inner: Incoming, tap: Arc<ExchangeTap>, lease: Lease) -> Self {
        let mut body = Self::Passed { inner, tap, lease: Some(lease) };
        if body.is_end_stream() {
            body.note_end();
        }
        body
    }

    pub(super) fn own(text: String) -> Self {
        Self::Own(Some(Bytes::from(text)))
    }

    fn note_end(&mut self) {
        if let Self::Passed { tap, lease, .. } = self
            && let Some(lease) = lease.take()
        {
            tap.set_ending(Ending::Complete);
            lease.give_back();
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let (inner, tap) = match &mut *self {
            Self::Own(text) => return Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
            Self::Passed { inner, tap, .. } => (inner, tap),
        };
        let polled = Pin::new(&mut *inner).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(bytes) = frame.data_ref() {
                    tap.hear_response(bytes);
                }
                // Of a body whose length was told, nobody asks for more than that.
                if inner.is_end_stream() {
                    self.note_end();
                }
            }
            Poll::Ready(Some(Err(_))) => tap.set_ending(Ending::UpstreamHungUp),
            Poll::Ready(None) => self.note_end(),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Passed { inner, .. } => inner.is_end_stream(),
            Self::Own(text) => text.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Passed { inner, .. } => inner.size_hint(),
            Self::Own(text) => SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64)),
        }
    }
}
