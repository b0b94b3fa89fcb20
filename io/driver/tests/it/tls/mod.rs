//! TLS as a filter: without TLS it passes the suite of all drivers, and with TLS the same in
//! plaintext.

mod blocking;
mod crossed;
mod ending;
mod openssl;
mod peer;
mod queue;
mod splits;
mod transfers;
mod wire;

/// One `#[test]` per behaviour with TLS, for the driver below it.
macro_rules! tls_suite {
    ($driver:ty) => {
        tls_suite! { @each $driver,
            blocking: [begins_behind_words_in_the_clear],
            crossed: [echoes, the_negotiated_protocol_is_reported, sessions_are_resumed_by_whom_they_belong_to,
                what_is_sent_early_follows_the_handshake, certificates_are_judged],
            transfers: [much_in_both_directions, the_order_is_kept_while_pending, a_flood_lets_others_through,
                a_long_send_lets_others_through],
            ending: [half_closes, knows_the_end_that_came_with_bytes, answers_after_the_end_of_the_peer, reports_an_end_without_close_notify, reports_a_reset,
                hears_what_came_before_a_send_fails, says_goodbye_unless_it_resets, an_end_in_the_handshake_is_a_fault, nonsense_is_a_fault,
                refuses_a_dead_id, refuses_an_unnamed_host, a_forged_signature_is_found_out],
        }
    };
    (@each $driver:ty, $($room:ident: [$($test:ident),* $(,)?]),* $(,)?) => {
        $(mod $room {
            $(#[test]
            fn $test() {
                crate::tls::$room::$test::<$driver>();
            })*
        })*
    };
}

/// Over epoll.
mod over_epoll {
    mod plain {
        crate::driver_suite!(wavetank_driver::Tls<wavetank_driver::Epoll>);
    }
    mod tls {
        tls_suite!(wavetank_driver::Epoll);
    }
}

/// Over io\_uring.
mod over_uring {
    mod plain {
        crate::driver_suite!(wavetank_driver::Tls<wavetank_driver::Uring>);
    }
    mod tls {
        tls_suite!(wavetank_driver::Uring);
    }
}
