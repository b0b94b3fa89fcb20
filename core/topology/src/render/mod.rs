//! Configurations of real programs, made of a [`Lab`](crate::Lab): each directive with the reason why it stands there,
//! sizes by formula. What a program says about one of them is told with the topology file's line that caused it.

mod haproxy;
mod means;
mod nginx;
mod said;
mod script;
mod size;

pub use haproxy::{HAPROXY_BACKEND, HAPROXY_CONFIG, HAPROXY_SOCKET, haproxy, haproxy_room, haproxy_servers};
pub use means::Means;
pub use nginx::{NGINX_CONFIG, NGINX_SOCKET, NGINX_STATUS_PATH, nginx, sale_program};
pub use said::{Said, haproxy_said, keepalived_said, nft_said, nginx_said};
