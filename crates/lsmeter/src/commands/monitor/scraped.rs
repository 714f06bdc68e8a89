// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures for Prometheus.

use anyhow::Result;
use experiment::{Interval, Monitoring};
use report::OpenMetrics;

use crate::cli::MonitorArgs;
use crate::serve::Server;

/// What is served.
pub struct Scraped {
    server: Server,
    /// Remembers what it has told: counters must not fall.
    metrics: OpenMetrics,
}

impl Scraped {
    /// Serves, if that was asked for, and says where.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub fn bind(args: &MonitorArgs) -> Result<Option<Scraped>> {
        let Some(address) = args.prometheus else {
            return Ok(None);
        };
        let server = Server::bind(address)?;
        let address = server.address();
        anstream::eprintln!("serving http://{address}/metrics");
        if !address.ip().is_loopback() {
            anstream::eprintln!("warning: all who reach {address} can read it");
        }
        Ok(Some(Scraped {
            server,
            metrics: OpenMetrics::new(env!("CARGO_PKG_VERSION")),
        }))
    }

    /// What is told from now on: the sum of these.
    ///
    /// # Errors
    /// None that is known: it is written to memory.
    pub fn publish(&mut self, monitoring: &Monitoring, intervals: &[Interval]) -> Result<()> {
        let mut text = Vec::new();
        self.metrics.write(monitoring, intervals, &mut text)?;
        self.server.publish(text.into());
        Ok(())
    }
}
