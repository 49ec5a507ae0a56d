//! A trace's statistics for a terminal.
use super::summary::{part_of, QUANTILES, TOPS};
use report::format::number::plain;
use std::fmt::Write as _;
use trace::stats::{Histogram, Stats, ZipfFit};
use trace::{Format, Trace};

/// A few lines, then two small tables.
///
/// `from` is how the format was found: by the option, the name or the contents.
pub fn of(trace: &Trace, stats: &Stats, from: &str) -> String {
    let format = trace.format.map_or("", Format::name);
    let mut text = format!(
        "{}\n  format                 {format} (by {from})\n",
        trace.name
    );
    let parts = [write_trace, write_popularity, write_tops, write_reuse];
    for part in parts {
        // Writing to a String cannot fail.
        let _ = part(&mut text, trace, stats);
    }
    text
}

fn percent(share: f64) -> String {
    format!("{} %", plain(share * 100.0))
}

/// A part of all requests, in percent.
fn of_requests(stats: &Stats, part: u64) -> String {
    percent(part as f64 / stats.requests as f64)
}

fn write_trace(to: &mut String, trace: &Trace, stats: &Stats) -> std::fmt::Result {
    writeln!(to, "  requests               {}", stats.requests)?;
    writeln!(to, "  objects (footprint)    {}", stats.objects)?;
    writeln!(
        to,
        "  compulsory miss ratio  {:.6}",
        stats.compulsory_miss_ratio
    )?;
    if trace.skipped.malformed > 0 {
        writeln!(to, "  malformed, left out    {}", trace.skipped.malformed)?;
    }
    if trace.skipped.writes > 0 {
        writeln!(to, "  writes, left out       {}", trace.skipped.writes)?;
    }
    let Some(kinds) = stats.kinds else {
        return Ok(());
    };
    for (name, count) in [
        ("writes", kinds.writes),
        ("anonymous", kinds.anon),
        ("mapped", kinds.mapped),
        ("executable", kinds.exec),
    ] {
        writeln!(to, "  {name:<21}  {count} ({})", of_requests(stats, count))?;
    }
    Ok(())
}

fn write_popularity(to: &mut String, _trace: &Trace, stats: &Stats) -> std::fmt::Result {
    let popularity = &stats.popularity;
    writeln!(to, "\nPopularity (requests of an object)")?;
    let most = popularity.counts.first().copied().unwrap_or(0);
    let share = of_requests(stats, u64::from(most));
    writeln!(to, "  most                   {most} ({share})")?;
    writeln!(to, "  median                 {}", popularity.median())?;
    let once = popularity.one_hit_wonders;
    let share = percent(f64::from(once) / f64::from(stats.objects));
    writeln!(to, "  requested once         {once} ({share} of objects)")?;
    match popularity.zipf {
        Some(z) => writeln!(
            to,
            "  zipf fit               alpha {:.3}, distance {:.3}{}\n{:25}over {} objects with {} requests or more",
            z.alpha,
            z.distance,
            if z.distance > 0.2 { ": no zipf law" } else { "" },
            "",
            z.ranks,
            ZipfFit::LEAST
        ),
        None => writeln!(
            to,
            "  zipf fit               none: fewer than 10 objects with {} requests or more",
            ZipfFit::LEAST
        ),
    }
}

fn write_tops(to: &mut String, _trace: &Trace, stats: &Stats) -> std::fmt::Result {
    writeln!(
        to,
        "\n  {:>8} {:>12} {:>16} {:>16}",
        "top", "objects", "of the requests", "LRU miss ratio"
    )?;
    for part in TOPS {
        let objects = part_of(stats.objects, part);
        writeln!(
            to,
            "  {:>8} {objects:>12} {:>16} {:>16.4}",
            percent(part),
            percent(stats.popularity.share_of_top(objects)),
            stats.lru_miss_ratio(objects)
        )?;
    }
    Ok(())
}

fn write_reuse(to: &mut String, _trace: &Trace, stats: &Stats) -> std::fmt::Result {
    writeln!(
        to,
        "\nReuse ({} requests of objects that were requested before)",
        stats.reuse_time.total()
    )?;
    writeln!(
        to,
        "  {:>8} {:>18} {:>20}",
        "share", "requests between", "objects in between"
    )?;
    let value = |h: &Histogram, q| h.quantile(q).map_or("-".into(), |v| v.to_string());
    for q in QUANTILES {
        writeln!(
            to,
            "  {:>8} {:>18} {:>20}",
            percent(q),
            value(&stats.reuse_time, q),
            value(&stats.reuse_distance, q)
        )?;
    }
    writeln!(
        to,
        "  Both count the second request. An LRU cache of that many objects hits that\n  \
        share of these requests, to 0.4 %."
    )
}
