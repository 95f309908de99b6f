//! Metrics of the process and of its build, under the names that every Prometheus exporter uses, so that existing alert
//! rules and dashboards find them. They are read from `/proc` at each scrape; on systems without it only the build is
//! there.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use verify_core::catalog::API_VERSION;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Build {
    version: &'static str,
    api_version: &'static str,
}

/// Registers `authority_build_info`; the registry has the prefix.
pub(super) fn register_build(registry: &mut Registry) {
    let build = Info::new(Build { version: env!("CARGO_PKG_VERSION"), api_version: API_VERSION });
    registry.register("build", "The version of this program, and of the API and the events it speaks", build);
}

/// Registers what is known of this process at present; the registry has no prefix.
#[cfg(target_os = "linux")]
pub(super) fn register_process(registry: &mut Registry) {
    // Where /proc is not mounted or not readable, its metrics are missing and all others are there.
    if let Err(error) = linux::register(registry) {
        tracing::debug!(%error, "/proc does not say how this process is");
    }
}

/// There is no `/proc` to read.
#[cfg(not(target_os = "linux"))]
pub(super) fn register_process(_registry: &mut Registry) {}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::atomic::AtomicU64;

    use procfs::process::{LimitValue, Process};
    use procfs::{ProcResult, boot_time_secs, page_size, ticks_per_second};
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::gauge::Gauge;
    use prometheus_client::registry::Registry;

    pub(super) fn register(registry: &mut Registry) -> ProcResult<()> {
        let process = Process::myself()?;
        let (stat, ticks) = (process.stat()?, ticks_per_second() as f64);
        let cpu = Counter::<f64, AtomicU64>::default();
        cpu.inc_by((stat.utime + stat.stime) as f64 / ticks);
        registry.register("process_cpu_seconds", "User and system time spent", cpu);
        let started = boot_time_secs()? as f64 + stat.starttime as f64 / ticks;
        // No limit is shown as infinity, as Prometheus' own collectors do.
        let most_files = match process.limits()?.max_open_files.soft_limit {
            LimitValue::Value(most) => most as f64,
            LimitValue::Unlimited => f64::INFINITY,
        };
        for (name, help, value) in [
            (
                "process_start_time_seconds",
                "When the process started, in seconds since the Unix epoch",
                started,
            ),
            ("process_resident_memory_bytes", "Memory in use", (stat.rss * page_size()) as f64),
            ("process_virtual_memory_bytes", "Address space in use", stat.vsize as f64),
            ("process_threads", "Threads", stat.num_threads as f64),
            ("process_open_fds", "Open files and sockets", process.fd_count()? as f64),
            ("process_max_fds", "The most files and sockets that may be open", most_files),
        ] {
            let gauge = Gauge::<f64, AtomicU64>::default();
            gauge.set(value);
            registry.register(name, help, gauge);
        }
        Ok(())
    }
}
