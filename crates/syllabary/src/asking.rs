//! Whether to go on with one long text.
//!
//! Adds `Ask`, which is asked between blocks of the text. Leaves out batches, which ask between their texts (`batch`).

use std::{fmt, sync::Arc};

use crate::Error;

/// In text of so many bytes and more it is asked whether to go on, between as many.
pub const LONG: usize = 1 << 20;

/// A question that the caller answers, or none: then work goes on to its end.
#[derive(Clone, Default)]
pub struct Ask(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Ask {
    /// Asks `f`, whose answer `false` ends the work with `Error::Interrupted`; it is asked often.
    pub fn new(f: impl Fn() -> bool + Send + Sync + 'static) -> Ask {
        Ask(Some(Arc::new(f)))
    }

    /// Whether anybody is asked.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// The answer.
    pub(crate) fn go_on(&self) -> bool {
        self.0.as_ref().is_none_or(|f| f())
    }

    /// The same as a result.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.go_on() { Ok(()) } else { Err(Error::Interrupted) }
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ask").field(&self.is_open()).finish()
    }
}
