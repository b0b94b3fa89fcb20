//! The epoll driver does what every driver must.

mod suite;

driver_suite!(wavetank_driver::Epoll);
