// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures for Prometheus.

use std::io;
use std::net::SocketAddr;

use diagnostics::Failure;
use experiment::{Interval, Monitoring};

use crate::open_metrics::OpenMetrics;
use crate::serve::Server;

/// Serves what a monitor has seen, until it is dropped.
#[derive(Debug)]
pub struct Publisher {
    server: Server,
    /// Remembers what it wrote: counters must not fall.
    metrics: OpenMetrics,
}

impl Publisher {
    /// Serves at this address; port 0 is any that is free.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn bind(address: SocketAddr) -> Result<Publisher, Failure> {
        Ok(Publisher {
            server: Server::bind(address)?,
            metrics: OpenMetrics::new(env!("CARGO_PKG_VERSION")),
        })
    }

    /// Where it serves.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Serves from now on the sum of these intervals, which are all since the start.
    ///
    /// # Errors
    /// If the text cannot be written, to memory.
    pub fn publish<'a>(
        &mut self,
        monitoring: &Monitoring,
        intervals: impl IntoIterator<Item = &'a Interval>,
    ) -> io::Result<()> {
        let mut text = Vec::new();
        self.metrics.write(monitoring, intervals, &mut text)?;
        self.server.publish(text.into());
        Ok(())
    }
}
