//! Reading ahead: an iterator that runs on a thread of its own.

use std::iter::FusedIterator;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::error::{DataError, Result};
use crate::guard::READER_THREAD;

/// An item, or the word that there are no more: a channel that closes without it
/// means that the thread died, which must not look like the end of the data.
enum Message<T> {
    Item(Result<T>),
    End,
}

/// The items of an iterator, made on another thread and at most `depth` of them
/// ahead. Dropping it stops the thread at its next item.
pub(crate) struct Ahead<T> {
    from: Origin<T>,
}

enum Origin<T> {
    Thread(Receiver<Message<T>>),
    /// No thread could be started: items are made when they are asked for.
    Here(Items<T>),
    Nothing,
}

type Items<T> = Box<dyn Iterator<Item = Result<T>> + Send>;

impl<T: Send + 'static> Ahead<T> {
    /// Starts the thread.
    pub(crate) fn spawn(
        depth: usize,
        items: impl Iterator<Item = Result<T>> + Send + 'static,
    ) -> Self {
        let (sender, receiver) = sync_channel(depth);
        // A thread that cannot be started gives back what it was to do.
        let items = Arc::new(Mutex::new(Some(Box::new(items) as Items<T>)));
        let taken = Arc::clone(&items);
        let take = |from: &Mutex<Option<Items<T>>>| {
            from.lock().unwrap_or_else(PoisonError::into_inner).take()
        };
        let work = move || {
            for item in take(&taken).into_iter().flatten() {
                let stop = item.is_err();
                if sender.send(Message::Item(item)).is_err() || stop {
                    return;
                }
            }
            // The other end may have gone, which is fine.
            let _ = sender.send(Message::End);
        };
        let from = match thread::Builder::new().name(READER_THREAD.to_owned()).spawn(work) {
            Ok(_) => Origin::Thread(receiver),
            Err(_) => take(&items).map_or(Origin::Nothing, Origin::Here),
        };
        Self { from }
    }
}

impl<T> Iterator for Ahead<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = match &mut self.from {
            Origin::Nothing => None,
            Origin::Here(items) => items.next(),
            Origin::Thread(receiver) => match receiver.recv() {
                Ok(Message::Item(item)) => Some(item),
                Ok(Message::End) => None,
                Err(_) => Some(Err(DataError::ReaderStopped)),
            },
        };
        if !matches!(item, Some(Ok(_))) {
            self.from = Origin::Nothing;
        }
        item
    }
}

impl<T> FusedIterator for Ahead<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_everything_then_ends() {
        let ahead = Ahead::spawn(2, (0..100).map(Ok));
        assert_eq!(ahead.collect::<Result<Vec<_>>>().unwrap(), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_dead_thread_is_an_error_not_the_end() {
        let items =
            (0..3).map(|i| if i == 2 { std::panic::resume_unwind(Box::new(())) } else { Ok(i) });
        let mut ahead = Ahead::spawn(1, items);
        assert!(matches!(ahead.next(), Some(Ok(0))));
        assert!(matches!(ahead.next(), Some(Ok(1))));
        assert!(matches!(ahead.next(), Some(Err(DataError::ReaderStopped))));
        assert!(ahead.next().is_none());
    }
}
