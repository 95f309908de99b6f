//! The limits and the memory of look-ups, with a clock that the test sets.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;

use super::*;

/// A clock that the test sets.
#[derive(Default)]
struct Turned(AtomicU64);

impl Turned {
    fn turn(&self, by: Duration) {
        self.0.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for Turned {
    fn now_ms(&self) -> i64 {
        0
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

#[tokio::test]
async fn a_name_without_an_answer_is_left_alone_for_longer_each_time() {
    let (clock, asked) = (Arc::<Turned>::default(), Arc::<AtomicUsize>::default());
    let count = Arc::clone(&asked);
    let ask = move |_: &str| {
        count.fetch_add(1, Ordering::SeqCst);
        std::future::pending().boxed()
    };
    let lookups = Lookups::new(LookupLimits { quick: 1, slow: 1 }, clock.clone(), Box::new(ask));
    for (times, pause) in [3, 6, 12, 24, 48, 60, 60].into_iter().enumerate() {
        let mut question = Box::pin(lookups.resolve("hang.example.com"));
        assert!((&mut question).now_or_never().is_none());
        assert_eq!(asked.load(Ordering::SeqCst), times + 1);
        clock.turn(SILENT_AFTER);
        drop(question);
        clock.turn(Duration::from_secs(pause - 1));
        let refused = lookups.resolve("hang.example.com").await.unwrap_err();
        assert_eq!((refused.kind(), asked.load(Ordering::SeqCst)), (io::ErrorKind::TimedOut, times + 1));
        clock.turn(Duration::from_secs(1));
    }
}

/// With every slot for other names taken, a name that was answered before is answered at once.
#[tokio::test]
async fn names_that_never_answer_take_no_place_of_those_in_use() {
    let ask = |host: &str| match host {
        "shop.example.com" => std::future::ready(Ok(vec![[1, 1, 1, 1].into()])).boxed(),
        _ => std::future::pending().boxed(),
    };
    let places = LookupLimits { quick: 4, slow: 4 };
    let lookups = Lookups::new(places, Arc::<Turned>::default(), Box::new(ask));
    lookups.resolve("shop.example.com").await.unwrap();
    let silent: Vec<_> = (0..100).map(|n| format!("{n}.hang.example.com")).collect();
    let mut hanging = join_all(silent.iter().map(|host| lookups.resolve(host)));
    assert!((&mut hanging).now_or_never().is_none());
    assert_eq!((lookups.others.quick.available_permits(), lookups.running()), (0, 100));
    let found = lookups.resolve("shop.example.com").now_or_never().expect("an answer at once");
    assert_eq!(found.unwrap(), [IpAddr::from([1, 1, 1, 1])]);
    drop(hanging);
    assert_eq!((lookups.others.quick.available_permits(), lookups.running()), (4, 0));
}

/// As many look-ups without an answer continue as there are slow slots; the others end soon and free their slots.
#[tokio::test]
async fn names_that_never_answer_leave_the_quick_places() {
    let lookups = Lookups::new(
        LookupLimits { quick: 4, slow: 2 },
        Arc::<Turned>::default(),
        Box::new(|_: &str| std::future::pending().boxed()),
    );
    let silent: Vec<_> = (0..6).map(|n| format!("{n}.hang.example.com")).collect();
    let mut hanging: FuturesUnordered<_> = silent.iter().map(|host| lookups.resolve(host)).collect();
    for _ in 0..4 {
        let refused = hanging.next().await.unwrap().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
    }
    assert!(hanging.next().now_or_never().is_none());
    assert_eq!(lookups.others.quick.available_permits(), 4);
    assert_eq!(lookups.others.slow.available_permits(), 0);
}

/// A caller that gives up early says nothing about the name, and an answer clears the record of silence.
#[tokio::test]
async fn a_name_that_was_answered_is_asked_for_again() {
    let (clock, asked) = (Arc::<Turned>::default(), Arc::<AtomicUsize>::default());
    let count = Arc::clone(&asked);
    let ask = move |_: &str| match count.fetch_add(1, Ordering::SeqCst) {
        0 => std::future::pending().boxed(),
        1 => std::future::ready(Err(io::ErrorKind::NotFound.into())).boxed(),
        _ => std::future::ready(Ok(vec![[1, 1, 1, 1].into()])).boxed(),
    };
    let lookups = Lookups::new(LookupLimits { quick: 1, slow: 0 }, clock.clone(), Box::new(ask));
    let mut given_up = Box::pin(lookups.resolve("shop.example.com"));
    assert!((&mut given_up).now_or_never().is_none());
    clock.turn(Duration::from_secs(1));
    drop(given_up);
    assert_eq!(lookups.resolve("shop.example.com").await.unwrap_err().kind(), io::ErrorKind::NotFound);
    for _ in 0..2 {
        assert_eq!(lookups.resolve("shop.example.com").await.unwrap(), [IpAddr::from([1, 1, 1, 1])]);
    }
}
