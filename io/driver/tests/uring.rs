//! The io\_uring driver does what every driver must.

mod suite;

driver_suite!(wavetank_driver::Uring);
