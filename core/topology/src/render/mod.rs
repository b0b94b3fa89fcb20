//! Renders configurations of real programs from a [`Lab`](crate::Lab). Each directive comes with
//! its reason, and sizes follow formulas. Messages of a program about a configuration are reported
//! with the line of the topology file that caused them.

mod haproxy;
mod host_resources;
mod nginx;
mod program_output;
mod script;
mod size;

pub use haproxy::{HAPROXY_BACKEND, HAPROXY_CONFIG, HAPROXY_SOCKET, haproxy, haproxy_room, haproxy_servers};
pub use host_resources::HostResources;
pub use nginx::{NGINX_CONFIG, NGINX_SOCKET, NGINX_STATUS_PATH, nginx, sale_program};
pub use program_output::{
    ConfigMessage, HAPROXY_OUTPUT, KEEPALIVED_OUTPUT, NFT_OUTPUT, NGINX_OUTPUT, NOTHING_SAID, OutputParser,
    last_message, nginx_listen_line,
};
