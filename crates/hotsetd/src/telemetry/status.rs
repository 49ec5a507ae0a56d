//! The status document, for `hotset status`. Made only when a client connects.
use crate::telemetry::state::{KnobState, State};
use policy::{FreePagesForecast, NodeForecast, Policy};
use status::{Action, FreePages, Knob, KnobValue, Modules, Node, Order, Rates, Status};

/// A knob that holds a value of the daemon's.
pub struct WrittenKnob<'a> {
    pub name: &'a str,
    /// The value before the daemon first wrote the knob.
    pub original: &'a str,
    /// The last value that the daemon wrote or is about to write.
    pub value: Option<&'a str>,
}

/// The document's sources besides [`State`].
pub struct Context<'a> {
    pub policy: &'a Policy,
    pub written: &'a [WrittenKnob<'a>],
    pub dry_run: bool,
    /// CLOCK_MONOTONIC, seconds.
    pub now_s: f64,
    /// CPU seconds of the process.
    pub cpu_s: f64,
    pub protect: Option<status::Protection>,
}

/// Makes the document.
pub fn status(state: &State, context: Context) -> Status {
    let summary = &state.summary;
    Status {
        schema: status::SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        pid: Some(std::process::id()),
        page_size: Some(context.policy.machine().page_size),
        dry_run: context.dry_run,
        aggressiveness: context.policy.config().aggressiveness,
        uptime_s: Some(context.now_s - state.started_s),
        cpu_s: context.cpu_s,
        sample_age_s: context.now_s - state.sampled_s,
        next_sample_s: state.next_sample_s,
        modules: modules(context.policy),
        nodes: summary.nodes.iter().map(node).collect(),
        watermarks: watermarks(&summary.free_pages),
        rates: rates(&summary.rates),
        knobs: knobs(&state.knobs, context.written),
        counts: state.counts.clone(),
        actions: actions(state),
        protect: context.protect,
    }
}

fn modules(policy: &Policy) -> Modules {
    let modules = &policy.config().modules;
    Modules {
        free_pages: modules.free_pages,
        fragmentation: modules.fragmentation,
        negative_dentries: modules.negative_dentries,
        object_caching: modules.object_caching,
        leak_check: modules.leak_check,
        tunables: modules.tunables,
    }
}

fn node(node: &NodeForecast) -> Node {
    Node {
        id: node.id,
        free_pages: node.free,
        min: node.watermarks.min,
        low: node.watermarks.low,
        high: node.watermarks.high,
        demand_pages_per_s: node.demand,
        demand_error: node.demand_error,
        time_to_low_s: node.time_to_low_s,
        earliest_low_s: node.earliest_low_s,
        exhaustion_predicted: node.predicted,
        order: Order {
            order: node.order.order,
            available_pages: node.order.available,
            slope_pages_per_s: node.order.slope,
            time_to_exhaustion_s: node.order.time_to_exhaustion_s,
            exhaustion_predicted: node.order.predicted,
        },
    }
}

fn watermarks(forecast: &FreePagesForecast) -> FreePages {
    FreePages {
        drawdown_pages: forecast.drawdown_pages,
        wanted: forecast.wanted,
        floor: forecast.floor,
        cap: forecast.cap,
    }
}

fn rates(rates: &policy::Rates) -> Rates {
    Rates {
        demand_pages_per_s: rates.demand,
        kswapd_pages_per_s: rates.kswapd,
        direct_pages_per_s: rates.direct,
        proactive_pages_per_s: rates.proactive,
        kswapd_capacity_pages_per_s: rates.kswapd_capacity,
        refaults_per_s: rates.refaults,
        allocstalls_per_s: rates.allocstall,
    }
}

/// The knobs of each sample, then those that only the administrator's tunables write.
fn knobs(sampled: &[KnobState], written: &[WrittenKnob]) -> Vec<Knob> {
    let original = |name: &str| written.iter().find(|knob| knob.name == name);
    let own = sampled.iter().filter_map(|knob| {
        let original = original(knob.name);
        Some(Knob {
            name: knob.name.into(),
            value: Some(KnobValue::Number(knob.value?.into())),
            original: original.map(|knob| knob.original.into()),
            set_by_hotsetd: original.is_some(),
        })
    });
    let tunables = written
        .iter()
        .filter(|knob| !sampled.iter().any(|own| own.name == knob.name))
        .map(|knob| Knob {
            name: knob.name.into(),
            value: knob.value.map(|value| KnobValue::Text(value.into())),
            original: Some(knob.original.into()),
            set_by_hotsetd: true,
        });
    own.chain(tunables).collect()
}

fn actions(state: &State) -> Vec<Action> {
    state
        .actions()
        .map(|past| Action {
            at_unix_s: past.at_unix_s,
            action: past.action.as_str().into(),
            reason: past.reason.as_str().into(),
            outcome: past.outcome.as_str().into(),
        })
        .collect()
}
