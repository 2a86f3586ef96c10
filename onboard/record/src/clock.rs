//! Time behind a trait: every timeout and every stored time goes through [`Clock`], so that tests
//! can run an hour's flight in a second and get the same bytes each time.

use jiff::{SignedDuration, Timestamp};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A moment on a clock that only goes forward: the time since that clock's own start. Two moments
/// compare only if they come from one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// The time since the clock's start.
    #[must_use]
    pub fn since_start(self) -> Duration {
        self.0
    }

    /// The time from `earlier` to this moment; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Moment) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl std::ops::Add<Duration> for Moment {
    type Output = Moment;
    fn add(self, wait: Duration) -> Moment {
        Moment(self.0.saturating_add(wait))
    }
}

/// Where the program's time comes from.
pub trait Clock: Send + Sync {
    /// The present instant in UTC, as the machine believes it. It may jump when the machine's
    /// clock is set; never subtract two of these to measure a wait.
    fn utc_now(&self) -> Timestamp;

    /// The present moment for timeouts: never goes back, never jumps.
    fn now(&self) -> Moment;

    /// How long to really wait until `deadline`: the sleep an executor or a thread must make.
    /// Zero when it has passed.
    fn real_wait_until(&self, deadline: Moment) -> Duration;

    /// Waits until `deadline` on this thread.
    fn sleep_until(&self, deadline: Moment) {
        let wait = self.real_wait_until(deadline);
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
    }

    /// Whether `deadline` has been reached.
    fn has_passed(&self, deadline: Moment) -> bool {
        self.now() >= deadline
    }
}

/// The machine's clocks.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// A clock whose moments count from now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn utc_now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn now(&self) -> Moment {
        Moment(self.started.elapsed())
    }

    fn real_wait_until(&self, deadline: Moment) -> Duration {
        deadline.since(self.now())
    }
}

/// A clock for tests. Its time passes `scale` times as fast as the machine's, and jumps when
/// [`FakeClock::advance`] is called. With scale 0 time stands still between jumps, and
/// [`Clock::sleep_until`] jumps to the deadline instead of waiting: such a test is deterministic.
#[derive(Debug)]
pub struct FakeClock {
    utc_at_start: Timestamp,
    scale: f64,
    started: Instant,
    state: Mutex<FakeState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FakeState {
    jumped: Duration,
    utc_step: SignedDuration,
}

impl FakeClock {
    /// Time stands still at `utc_at_start` until it is advanced.
    #[must_use]
    pub fn manual(utc_at_start: Timestamp) -> Self {
        Self::scaled(utc_at_start, 0.0)
    }

    /// Time runs `scale` times as fast as real time, starting at `utc_at_start`.
    ///
    /// # Panics
    /// When `scale` is negative or not finite.
    #[must_use]
    pub fn scaled(utc_at_start: Timestamp, scale: f64) -> Self {
        assert!(
            scale.is_finite() && scale >= 0.0,
            "time scale {scale} is not a finite non-negative number"
        );
        Self {
            utc_at_start,
            scale,
            started: Instant::now(),
            state: Mutex::new(FakeState::default()),
        }
    }

    /// Lets `step` pass at once.
    pub fn advance(&self, step: Duration) {
        self.with_state(|state| state.jumped = state.jumped.saturating_add(step));
    }

    /// Sets the machine's calendar clock forward or back, as NTP or a GPS fix does; moments for
    /// timeouts are untouched.
    pub fn step_utc(&self, step: SignedDuration) {
        self.with_state(|state| state.utc_step = state.utc_step.saturating_add(step));
    }

    fn with_state<T>(&self, change: impl FnOnce(&mut FakeState) -> T) -> T {
        // A poisoned lock only means that another test thread panicked; the two durations inside
        // are always whole.
        let mut state = match self.state.lock() {
            Ok(state) => state,
            Err(poisoned) => poisoned.into_inner(),
        };
        change(&mut state)
    }
}

impl Clock for FakeClock {
    fn utc_now(&self) -> Timestamp {
        let step = self.with_state(|state| state.utc_step);
        let passed = SignedDuration::try_from(self.now().since_start())
            .unwrap_or(SignedDuration::MAX)
            .saturating_add(step);
        self.utc_at_start
            .checked_add(passed)
            .unwrap_or(Timestamp::MAX)
    }

    fn now(&self) -> Moment {
        let jumped = self.with_state(|state| state.jumped);
        let run = if self.scale > 0.0 {
            self.started.elapsed().mul_f64(self.scale)
        } else {
            Duration::ZERO
        };
        Moment(jumped.saturating_add(run))
    }

    fn real_wait_until(&self, deadline: Moment) -> Duration {
        let left = deadline.since(self.now());
        if self.scale > 0.0 {
            left.div_f64(self.scale)
        } else {
            Duration::ZERO
        }
    }

    fn sleep_until(&self, deadline: Moment) {
        if self.scale > 0.0 {
            std::thread::sleep(self.real_wait_until(deadline));
        } else {
            self.advance(deadline.since(self.now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Timestamp {
        "2026-03-01T10:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_manual_clock_stands_still_and_jumps() {
        let clock = FakeClock::manual(start());
        let first = clock.now();
        assert_eq!(clock.now(), first);
        let deadline = first + Duration::from_secs(90);
        assert!(!clock.has_passed(deadline));
        clock.sleep_until(deadline);
        assert!(clock.has_passed(deadline));
        assert_eq!(clock.now().since(first), Duration::from_secs(90));
        assert_eq!(clock.utc_now(), "2026-03-01T10:01:30Z".parse().unwrap());
    }

    #[test]
    fn setting_the_calendar_does_not_move_timeouts() {
        let clock = FakeClock::manual(start());
        let before = clock.now();
        clock.step_utc(SignedDuration::from_hours(-5));
        assert_eq!(clock.now(), before);
        assert_eq!(clock.utc_now(), "2026-03-01T05:00:00Z".parse().unwrap());
    }

    #[test]
    fn a_scaled_clock_shortens_real_waits() {
        let clock = FakeClock::scaled(start(), 1000.0);
        let deadline = clock.now() + Duration::from_secs(100);
        assert!(clock.real_wait_until(deadline) <= Duration::from_millis(100));
        clock.sleep_until(deadline);
        assert!(clock.has_passed(deadline));
        assert!(clock.utc_now() >= start() + Duration::from_secs(100));
    }

    #[test]
    fn the_system_clock_goes_forward() {
        let clock = SystemClock::new();
        let first = clock.now();
        clock.sleep_until(first + Duration::from_millis(2));
        assert!(clock.now().since(first) >= Duration::from_millis(2));
        assert_eq!(first.since(clock.now()), Duration::ZERO);
    }
}
