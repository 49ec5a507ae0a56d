//! The forecast in the log.
use crate::telemetry::log::{Level, Log};
use policy::Summary;
use std::fmt;

/// Seconds until something happens.
struct Time(Option<f64>);

impl fmt::Display for Time {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            Some(seconds) => write!(to, "in {seconds:.0} s"),
            None => to.write_str("never"),
        }
    }
}

/// Logs each node's forecast and the rates, if the verbosity asks for them.
pub fn log_forecast(summary: &Summary, log: &mut Log) {
    if !log.wants(Level::Forecast) {
        return;
    }
    for node in &summary.nodes {
        let text = format_args!(
            "node {}: {} free (min {}, low {}, high {}), demand {:.0} +- {:.0} pages/s, low {} \
             (at the earliest {}); order {}: {} pages, exhausted {}",
            node.id,
            node.free,
            node.watermarks.min,
            node.watermarks.low,
            node.watermarks.high,
            node.demand,
            node.demand_error,
            Time(node.time_to_low_s),
            Time(node.earliest_low_s),
            node.order.order,
            node.order.available,
            Time(node.order.time_to_exhaustion_s),
        );
        log.line(Level::Forecast, "forecast", text);
    }
    let (rates, free) = (&summary.rates, &summary.free_pages);
    let text = format_args!(
        "demand {:.0}, reclaim: kswapd {:.0} (capacity {:.0}), direct {:.0}, proactive {:.0}, \
         refaults {:.0} pages/s, {:.1} stalls/s; scale factor wanted {} of \
         {} to {}",
        rates.demand,
        rates.kswapd,
        rates.kswapd_capacity,
        rates.direct,
        rates.proactive,
        rates.refaults,
        rates.allocstall,
        free.wanted,
        free.floor,
        free.cap,
    );
    log.line(Level::Rates, "rates", text);
}
