//! `wavetank lab`: brought up, used, taken down, and killed wherever it can be; each time nothing is left.

mod killed;
mod life;
mod place;
mod services;
mod several;
