//! Ctrl-C and SIGTERM as a flag that long work looks at.

use crate::exit::Interrupted;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that says the user wants to stop. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that nothing sets but [`Self::request`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that the first SIGINT, SIGTERM or SIGHUP sets; the second ends the process with
    /// code 130 at once. Call it once, at the start of `main`.
    #[must_use]
    pub fn on_signals() -> Self {
        let cancel = Self::new();
        let seen = cancel.clone();
        // A second handler in one process is our own mistake; without a handler the default
        // action (end at once) still holds, so the program goes on without.
        let outcome = ctrlc::set_handler(move || {
            if seen.is_requested() {
                std::process::exit(130);
            }
            seen.request();
        });
        if let Err(error) = outcome {
            tracing::warn!("cannot watch for Ctrl-C: {error}");
        }
        cancel
    }

    /// Ask for the stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the stop was asked for.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// `Err(Interrupted)` once the stop was asked for: `cancel.check()?` in loops.
    ///
    /// # Errors
    /// [`Interrupted`] when the user asked to stop.
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.is_requested() {
            Err(Interrupted)
        } else {
            Ok(())
        }
    }
}
