//! Configurations of real programs, made of a [`Lab`](crate::Lab): each directive with the reason why it stands there,
//! sizes by formula. What a program says about one of them is told with the topology file's line that caused it.

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
    ConfigMessage, parse_haproxy_error, parse_keepalived_error, parse_nft_error, parse_nginx_error,
};
