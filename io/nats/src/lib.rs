//! The link between a controller and its agents over a NATS broker.
