//! Setting a world up: a database in memory-backed storage where there is some, three merchants with endpoints, one to
//! three dispatchers, housekeeping.

use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use authority::app::access::Caller;
use authority::app::{App, AppParts};
use authority::background::housekeeping::keep_house;
use authority::config::Keys;
use authority::secret_box::Kek;
use authority_domain::MerchantId;
use authority_domain::endpoint::condition::DisablePolicy;
use authority_domain::endpoint::private_receivers::PrivateReceivers;
use authority_domain::endpoint::url::{UrlPolicy, UrlRulesByOwner};
use authority_domain::merchant::api_key::ApiKey;
use authority_store::{Access, Store, StoreUrl};
use rand::RngExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::dice::{SeededDice, rng};
use crate::journal::Journal;
use crate::limits::{Calls, Limits};
use crate::model::{Model, Shop};
use crate::network::Network;
use crate::operate::{By, member};
use crate::rows::{self, Rows};
use crate::time::Time;
use crate::world::{DispatcherSlot, World};
use crate::{Settings, Tally};

const MERCHANTS: usize = 3;
const ENDPOINTS_AT_FIRST: usize = 2;

/// A run of so many days has a receiver that never comes back, after five of which its endpoint is disabled, and one
/// that has little room.
const LONG_DAYS: i64 = 10;

/// What nobody's dice may be called: instances count from 1.
const OF_THE_WORLD: u64 = 1 << 60;
const OF_THE_NETWORK: u64 = OF_THE_WORLD + 1;
const OF_THE_APP: u64 = OF_THE_WORLD + 2;
const OF_HOUSEKEEPING: u64 = OF_THE_WORLD + 3;

/// Memory-backed storage: the simulation is about what is done, not about disks.
const MEMORY: &str = "/dev/shm";

const DATABASE: &str = "simulation.db";

/// A database with its schema, of which every world gets a copy. It is made outside of simulated time, once.
pub(crate) fn empty_database() -> &'static [u8] {
    static MADE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let folder = folder();
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async { open(&folder.path().join(DATABASE)).await.close().await });
        // It was closed in order, so that nothing of it lies beside it.
        fs::read(folder.path().join(DATABASE)).expect("a database")
    });
    &MADE
}

fn folder() -> TempDir {
    let made = if Path::new(MEMORY).is_dir() { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
    made.expect("a folder")
}

async fn open(path: &Path) -> Store {
    let url = StoreUrl::parse(&format!("sqlite://{}", path.display())).expect("an address");
    Store::open(&url, Access::Exclusive).await.expect("a database")
}

/// A world on a copy of `empty`, and the folder that it lives in.
pub(crate) async fn world(settings: Settings, empty: &[u8]) -> (World, TempDir) {
    let folder = folder();
    let path = folder.path().join(DATABASE);
    fs::write(&path, empty).expect("a copy");
    let store = open(&path).await;
    if let Some(trigger) = settings.planted.and_then(|planted| planted.trigger()) {
        rows::plant(&path, trigger).await;
    }
    let time = Arc::new(Time::default());
    let app = app(store, &time, settings.seed);
    // Housekeeping goes on for as long as the world does.
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        stop.closed().await;
        drop(stop);
    });
    let (clock, dice) = (Arc::clone(&app.clock), Arc::new(SeededDice::new(settings.seed, OF_HOUSEKEEPING)));
    tokio::spawn(keep_house(app.store.clone(), clock, dice, DisablePolicy::default(), stopped));
    let mut dice = rng(settings.seed, OF_THE_WORLD);
    let places = dice.random_range(1..4);
    let mut world = World {
        settings,
        network: Network::new(Arc::clone(&time), rng(settings.seed, OF_THE_NETWORK), settings.planted),
        app,
        callers: Vec::new(),
        time,
        places: (0..places).map(|_| DispatcherSlot::default()).collect(),
        newest: None,
        rows: Rows::open(&path).await,
        model: Model::default(),
        calls: Calls::new(),
        limits: Limits::default(),
        journal: Journal::new(settings.shown),
        dice,
        tally: Tally::default(),
        names: 0,
        left_alone: Vec::new(),
        next_operation: Some(1),
    };
    for number in 0..MERCHANTS {
        merchant(&mut world, number).await;
        for _ in 0..ENDPOINTS_AT_FIRST {
            world.create_endpoint(number).await.expect("an endpoint");
        }
    }
    if settings.days >= LONG_DAYS {
        world.arrange_the_unlikely();
    }
    for number in 0..places {
        world.start_instance(number);
    }
    (world, folder)
}

fn app(store: Store, time: &Arc<Time>, seed: u64) -> App {
    let dice = Arc::new(SeededDice::new(seed, OF_THE_APP));
    let keys = Keys::from_keks(Kek::generate(dice.as_ref()), None).expect("keys");
    App::from(AppParts {
        store,
        clock: Arc::<Time>::clone(time),
        dice,
        secrets: Arc::new(keys.secret_box()),
        cursors: Arc::new(Arc::clone(&keys.cursors).into()),
        urls: UrlRulesByOwner::new(UrlPolicy::Public, &PrivateReceivers::default()),
        // The network below has no addresses to judge.
        target_judge: None,
        base_url: String::new(),
        portal_origin: String::new(),
        rates: Arc::default(),
        known_keys: Arc::default(),
        idempotency_retention_ms: 86_400_000,
        ready_max_delay_ms: 300_000,
        key_use: Arc::default(),
        settling: Arc::default(),
        seeding: Arc::default(),
        console_link: Arc::default(),
    })
}

async fn merchant(world: &mut World, number: usize) {
    let mutation = world.mutation(By::Operator);
    let body = json!({ "slug": format!("merchant-{number}"), "name": "M", "default_currency": "USD" });
    let made = world.app.merchant_create(mutation.with(body)).await.expect("a merchant");
    let made: Value = serde_json::from_str(&made.body).expect("a record");
    let id = member(&made, "id");
    let mutation = world.mutation(By::Operator);
    let body = json!({ "name": "simulation", "mode": "live", "scopes": ["webhooks:manage", "events:read"] });
    let issued = world.app.api_key_issue(mutation.with(body), MerchantId::named(&id)).await.expect("a key");
    let issued: Value = serde_json::from_str(&issued.body).expect("a record");
    let key = ApiKey::parse(&member(&issued, "key")).expect("a key");
    let caller: Caller = world.app.merchant_of(&key).await.expect("a caller");
    world.callers.push(caller);
    world.model.shops.push(Shop { id, ..Shop::default() });
}
