//! Work in parts, one a thread.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use super::GoOn;
use crate::{Error, threads};

/// The results of `job` on every part, in order; the first part is done here.
pub(super) fn in_parts<P: Clone + Send, R: Send>(
    parts: Vec<P>,
    go_on: &mut GoOn<'_>,
    job: &(impl Fn(P, &mut GoOn<'_>) -> Result<R, Error> + Sync),
) -> Result<Vec<R>, Error> {
    let stop = AtomicBool::new(false);
    let going = || !stop.load(Ordering::Relaxed);
    std::thread::scope(|scope| {
        let mut parts = parts.into_iter();
        let first = parts.next();
        let others: Vec<_> = parts
            .map(|part: P| (part.clone(), threads::start(scope, move || job(part, &mut || going()))))
            .collect();
        let mut ask = || {
            let on = go_on();
            stop.fetch_or(!on, Ordering::Relaxed);
            on
        };
        let mut results: Vec<_> = first.into_iter().map(|part| job(part, &mut ask)).collect();
        for (part, thread) in others {
            results.push(match thread {
                Some(thread) => {
                    while !thread.is_finished() {
                        ask();
                        std::thread::sleep(Duration::from_micros(100));
                    }
                    threads::join(thread)
                }
                None => job(part, &mut ask),
            });
        }
        results.into_iter().collect()
    })
}
