//! Choices from the bytes of an input: each byte is one, and after the last byte all are zero.

/// Bytes that are still to be used.
pub(crate) struct Draw<'a>(pub(crate) &'a [u8]);

impl Draw<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// One of `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count.max(1)
    }

    pub(crate) fn yes(&mut self) -> bool {
        self.below(2) == 1
    }

    /// One of these.
    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// 0 to 1, both among them.
    pub(crate) fn share(&mut self) -> f64 {
        f64::from(self.byte()) / 255.0
    }
}
