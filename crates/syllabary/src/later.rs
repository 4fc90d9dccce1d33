//! Buffers that are made when they are first needed: a tokenizer needs those of one of its ways alone.

/// What is made when it is first needed.
#[derive(Debug)]
pub(crate) struct Later<T>(Option<Box<T>>);

impl<T> Default for Later<T> {
    fn default() -> Self {
        Later(None)
    }
}

impl<T: Default> Later<T> {
    /// It, made by now.
    #[inline]
    pub(crate) fn here(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}
