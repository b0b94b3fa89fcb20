//! All integration tests of this crate in one program, which is linked only once.

mod calibration;
mod charts;
#[path = "../../../measure/tests/it/common/mod.rs"]
#[allow(dead_code, reason = "the tests of core/measure use the rest")]
mod common;
mod comparison_html;
mod comparison_reported;
mod compose;
mod explain;
mod exports;
mod fleet;
mod forecast;
mod gallery;
mod hostile_numbers;
mod hosts;
mod html;
mod html_course;
mod html_front;
mod html_words;
mod impacts;
mod journeys;
mod knee;
mod knee_answer;
mod machine;
mod progress;
#[path = "../../../measure/tests/it/common/shop.rs"]
mod shop;
mod support;
mod text;
