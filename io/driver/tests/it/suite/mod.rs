//! The tests that every driver must pass, written once over `D: Driver`; `driver_suite!` makes them
//! tests of one driver.

pub(crate) mod bench;
pub(crate) mod connecting;
pub(crate) mod datagrams;
pub(crate) mod ending;
pub(crate) mod fairness;
pub(crate) mod reuse;
pub(crate) mod sending;
pub(crate) mod waiting;

/// One `#[test]` per behaviour, for the driver named.
#[macro_export]
macro_rules! driver_suite {
    ($driver:ty) => {
        $crate::driver_suite! { @each $driver,
            connecting: [echoes, echoes_over_ipv6, refuses, binds_the_source, hears_a_listener_that_speaks_first, reports_both_ends,
                takes_a_tuple_again_and_speaks_immediately, accepts_a_crowd, shares_a_port],
            sending: [keeps_what_the_kernel_does_not_take, keeps_the_order_while_pending, sends_before_connected,
                refuses_a_dead_id, reports_unsent_bytes, fills_up_with_small_sends, closes_behind_small_sends],
            ending: [half_closes, answers_after_the_end_of_the_peer, reports_the_end_once, reports_a_reset,
                reports_a_reset_after_bytes, hears_what_came_before_a_send_fails,
                hears_what_came_before_a_long_send_fails, resets, resets_behind_small_sends, reads_data_and_end_of_one_edge, knows_the_end_that_came_with_bytes, drops_what_is_stale, gives_slots_a_new_generation,
                lets_go_of_the_port, listens_no_more],
            datagrams: [keep_their_bounds, are_cut, arrive_all, are_as_long_as_udp_allows, find_no_program, bind_the_source],
            reuse: [no_user_hears_of_another],
            waiting: [wakes, merges_rings, never_wakes_early, does_not_wait_for_the_past],
            fairness: [a_flood_lets_others_through, a_long_send_lets_others_through],
        }
    };
    (@each $driver:ty, $($room:ident: [$($test:ident),* $(,)?]),* $(,)?) => {
        $(mod $room {
            $(#[test]
            fn $test() {
                $crate::suite::$room::$test::<$driver>();
            })*
        })*
    };
}
