//! One or more instances of a build on a database of their own, a network between, merchants, and receivers.

use std::path::PathBuf;
use std::time::Duration;

use bench_kit::connection::Connection;
use bench_kit::database::Database;
use bench_kit::process::Processes;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::authority::Authority;
use tests::database_proxy::{DatabaseProxy, Lateness, Trips};
use tests::eventually::eventually;
use tests::merchant::Merchant;

use crate::MERCHANTS;
use crate::receiver::Receivers;

/// The distance of a managed database.
pub(crate) const FAR: Duration = Duration::from_millis(2);

/// A build of the authority.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    /// As it is written in tables.
    pub(crate) name: &'static str,
    pub(crate) binary: PathBuf,
}

/// Who wants the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listeners {
    /// Nobody.
    None,
    /// One endpoint of each merchant.
    Each,
    /// The platform's own endpoint.
    Sink,
}

impl Listeners {
    pub(crate) const ALL: [Self; 3] = [Self::None, Self::Each, Self::Sink];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "no endpoint",
            Self::Each => "an endpoint each",
            Self::Sink => "the sink",
        }
    }
}

/// What a stand is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) build: Build,
    pub(crate) instances: usize,
    /// Between service and database; without it they share the machine and no proxy is between them.
    pub(crate) round_trip: Option<Duration>,
    pub(crate) listeners: Listeners,
}

/// A running stand.
pub(crate) struct Stand {
    pub(crate) plan: Plan,
    pub(crate) instances: Vec<Authority>,
    pub(crate) proxies: Vec<DatabaseProxy>,
    pub(crate) merchants: Vec<Merchant>,
    pub(crate) receivers: Receivers,
    /// The database's address, not through a proxy.
    pub(crate) url: String,
    server: Option<u32>,
}

/// What the processes of a stand have taken so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) service: Duration,
    pub(crate) database: Duration,
}

impl Stand {
    /// Starts everything; the network has its delay from then on.
    pub(crate) async fn start(database: &Database, plan: Plan) -> Self {
        let url = database.url("scale").await;
        let (mut instances, mut proxies) = (Vec::new(), Vec::new());
        for _ in 0..plan.instances {
            let proxy = plan.round_trip.map(|_| DatabaseProxy::start(&url));
            let address = proxy.as_ref().map_or(url.as_str(), DatabaseProxy::url);
            let variables = [("AUTHORITY_DATABASE_URL", address), ("AUTHORITY_LOG", "error")];
            instances.push(Authority::built_as(&plan.build.binary, &variables).await);
            proxies.extend(proxy);
        }
        let receivers = Receivers::default();
        let merchants = join_all((0..MERCHANTS).map(async |n| {
            let merchant = Merchant::create(&instances[0], &format!("shop-{n}")).await;
            if plan.listeners == Listeners::Each {
                merchant.endpoint(&receivers.open().await, &["*"]).await;
            }
            merchant
        }))
        .await;
        if plan.listeners == Listeners::Sink {
            let sink = json!({ "url": receivers.open().await });
            instances[0].operator().post("/sink", &sink).await.expect(201);
        }
        let stand = Self { plan, instances, proxies, merchants, receivers, url, server: database.server() };
        stand.delay(stand.plan.round_trip.unwrap_or_default());
        stand
    }

    /// Changes the delay of the network.
    pub(crate) fn delay(&self, round_trip: Duration) {
        for proxy in &self.proxies {
            proxy.delay(round_trip);
        }
    }

    /// So many clients, of which each instance has the same number.
    pub(crate) async fn clients(&self, count: usize) -> Vec<Client> {
        let opening = (0..count).map(async |number| {
            let instance = &self.instances[number % self.instances.len()];
            let merchant = &self.merchants[number % MERCHANTS];
            let operator =
                Connection::open(&instance.operator_address(), Some(instance.operator_key())).await;
            let own = Connection::open(&instance.merchant_address(), Some(&merchant.key)).await;
            Client { operator, own }
        });
        join_all(opening).await
    }

    /// The round trips since they were last taken; `None` without a proxy.
    pub(crate) fn take_trips(&self) -> Option<Trips> {
        let mut proxies = self.proxies.iter();
        let mut trips = proxies.next()?.take_trips();
        proxies.for_each(|proxy| trips.add(proxy.take_trips()));
        Some(trips)
    }

    /// How punctual each proxy was since this was last taken.
    pub(crate) fn take_lateness(&self) -> Vec<Lateness> {
        self.proxies.iter().map(DatabaseProxy::take_lateness).collect()
    }

    pub(crate) fn taken(&self) -> Taken {
        let mut taken = Taken { service: Duration::ZERO, database: Duration::ZERO };
        for (n, instance) in self.instances.iter().enumerate() {
            let database = self.server.filter(|_| n == 0);
            let by_instance = Processes { asked: instance.pid(), database }.taken();
            taken.service += by_instance.asked;
            taken.database += by_instance.database;
        }
        taken
    }

    /// Deliveries that wait for an attempt, as the platform sees them.
    pub(crate) async fn pending(&self) -> u64 {
        let outbox: Value = self.instances[0].operator().get("/outbox").await.expect(200);
        outbox["pending"].as_u64().unwrap()
    }

    /// Waits until nothing is left to be delivered. For a sink nobody waits: it may never catch up.
    pub(crate) async fn drained(&self) {
        if self.plan.listeners == Listeners::Each {
            eventually("an empty outbox", async || (self.pending().await == 0).then_some(())).await;
        }
    }
}

/// A client of one instance: the platform, and one merchant.
pub(crate) struct Client {
    pub(crate) operator: Connection,
    pub(crate) own: Connection,
}
