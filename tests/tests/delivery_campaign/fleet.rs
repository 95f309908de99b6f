//! The instances and their database, and what happens to them.
//!
//! SQLite has one instance. PostgreSQL has several, on a server of the campaign's own, which is stopped, crashed and
//! held still among the kills. The proof's server has a synchronous standby as well, and is lost half-way: the standby
//! takes over, and a proxy leads the instances to it.

use std::sync::Arc;

use postgres_cluster::{Cluster, Durability, Stop};
use rand::RngExt as _;
use rand::rngs::StdRng;
use tests::database_proxy::DatabaseProxy;
use tests::{Authority, Database};

use crate::pace::after_ms;
use crate::plan::{Plan, REJECTED_ATTEMPTS, SCHEDULE, TIMEOUT_MS};

/// How long the database server is away or still.
const FAULT_MS: std::ops::Range<u64> = 300..2_500;

/// What can happen to the database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Stopped in order and started again.
    Restart,
    /// Stopped as by a crash, and an instance killed meanwhile; then both are started again.
    Crash,
    /// All of its processes stand still for a while.
    Pause,
}

/// All instances and the database they share.
pub(crate) struct Fleet {
    pub(crate) instances: Vec<Authority>,
    server: Option<Arc<Cluster>>,
    standby: Option<Standby>,
    /// The standby's, once it leads.
    proxy: Option<DatabaseProxy>,
}

/// What a failover needs.
struct Standby {
    server: Arc<Cluster>,
    /// Between the instances and whichever server leads.
    proxy: DatabaseProxy,
    /// The address of the database on the server that it follows.
    followed: String,
}

impl Fleet {
    pub(crate) async fn start(plan: &Plan, durability: Durability) -> Self {
        let server = match plan.database {
            Database::Sqlite => None,
            Database::Postgres | Database::Citus => {
                Some(Arc::new(tokio::task::spawn_blocking(move || Cluster::start(durability)).await.unwrap()))
            }
        };
        let (mut url, mut standby) = (None, None);
        if let Some(server) = &server {
            let database = server.database().await;
            if plan.failover_after.is_some() {
                standby = Some(Standby::of(server, &database).await);
            }
            url = Some(standby.as_ref().map_or(database, |standby: &Standby| standby.proxy.url().to_owned()));
        }
        let (rejected, timeout) = (REJECTED_ATTEMPTS.to_string(), TIMEOUT_MS.to_string());
        let mut variables = vec![
            ("AUTHORITY_LOG", "warn"),
            ("AUTHORITY_RETRY_SCHEDULE", SCHEDULE),
            ("AUTHORITY_REJECTED_ATTEMPTS", &rejected),
            ("AUTHORITY_DELIVERY_TIMEOUT_MS", &timeout),
        ];
        variables.extend(url.as_deref().map(|url| ("AUTHORITY_DATABASE_URL", url)));
        let mut instances = Vec::new();
        for _ in 0..plan.instances() {
            instances.push(Authority::start(&variables).await);
        }
        Self { instances, server, standby, proxy: None }
    }

    /// Ends one by force and starts it again.
    pub(crate) async fn kill(&mut self, dice: &mut StdRng) {
        let instance = self.one(dice);
        instance.kill().await;
        instance.restart().await;
    }

    /// Ends one in order, which must succeed, and starts it again.
    pub(crate) async fn stop(&mut self, dice: &mut StdRng) {
        let instance = self.one(dice);
        instance.terminate().await;
        instance.restart().await;
    }

    /// Whether there is a database server that something can happen to.
    pub(crate) fn has_server(&self) -> bool {
        self.server.is_some()
    }

    /// Has something happen to the database server.
    pub(crate) async fn fault(&mut self, fault: Fault, dice: &mut StdRng) {
        let server = Arc::clone(self.server.as_ref().expect("a server"));
        let moment = dice.random_range(FAULT_MS);
        match fault {
            Fault::Restart => {
                on_server(&server, |server| server.stop(Stop::Fast)).await;
                after_ms(moment).await;
                on_server(&server, Cluster::start_again).await;
            }
            Fault::Crash => {
                on_server(&server, |server| server.stop(Stop::Immediate)).await;
                let instance = self.one(dice);
                instance.kill().await;
                after_ms(moment).await;
                on_server(&server, Cluster::start_again).await;
                instance.restart().await;
            }
            Fault::Pause => {
                on_server(&server, Cluster::pause).await;
                after_ms(moment).await;
                on_server(&server, Cluster::go_on).await;
            }
        }
    }

    /// Loses the database server for good; the standby takes over. Whether there was one.
    pub(crate) async fn failover(&mut self, dice: &mut StdRng) -> bool {
        let (Some(Standby { server, proxy, followed }), Some(lost)) = (self.standby.take(), &self.server)
        else {
            return false;
        };
        on_server(lost, Cluster::kill).await;
        after_ms(dice.random_range(FAULT_MS)).await;
        on_server(&server, Cluster::promote).await;
        proxy.lead_to(&server.address_of(&followed));
        self.server = Some(server);
        self.proxy = Some(proxy);
        true
    }

    /// The address of the database.
    pub(crate) fn database_url(&self) -> &str {
        self.instances[0].database_url()
    }

    /// Ends all of them in order.
    pub(crate) async fn terminate(&mut self) {
        for instance in &mut self.instances {
            instance.terminate().await;
        }
    }

    fn one(&mut self, dice: &mut StdRng) -> &mut Authority {
        let at = dice.random_range(0..self.instances.len());
        &mut self.instances[at]
    }
}

impl Standby {
    async fn of(server: &Cluster, followed: &str) -> Self {
        let standby = Arc::new(server.standby().await);
        Self { server: standby, proxy: DatabaseProxy::start(followed), followed: followed.to_owned() }
    }
}

async fn on_server(server: &Arc<Cluster>, act: impl FnOnce(&Cluster) + Send + 'static) {
    let server = Arc::clone(server);
    tokio::task::spawn_blocking(move || act(&server)).await.unwrap();
}
