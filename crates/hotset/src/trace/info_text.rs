//! A trace's statistics for a terminal.
use super::info::{part_of, QUANTILES, TOPS};
use report::format::number::plain;
use std::fmt::Write as _;
use trace::stats::{Histogram, Stats, ZipfFit};
use trace::Trace;

/// A few lines, then two small tables.
pub fn of(trace: &Trace, stats: &Stats) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, trace, stats);
    text
}

fn write(to: &mut String, trace: &Trace, stats: &Stats) -> std::fmt::Result {
    let popularity = &stats.popularity;
    let percent = |x: f64| format!("{} %", plain(x * 100.0));
    let of_objects = |n: u32| percent(f64::from(n) / f64::from(stats.objects));
    let of_requests = |n: u64| percent(n as f64 / stats.requests as f64);
    writeln!(to, "{}", trace.name)?;
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
    if let Some(kinds) = stats.kinds {
        let told = [
            ("writes", kinds.writes),
            ("anonymous", kinds.anon),
            ("mapped", kinds.mapped),
            ("executable", kinds.exec),
        ];
        for (name, count) in told {
            writeln!(to, "  {name:<21}  {count} ({})", of_requests(count))?;
        }
    }
    writeln!(to, "\nPopularity (requests of an object)")?;
    let most = popularity.counts.first().copied().unwrap_or(0);
    writeln!(
        to,
        "  most                   {most} ({})",
        of_requests(u64::from(most))
    )?;
    writeln!(to, "  median                 {}", popularity.median())?;
    let once = popularity.one_hit_wonders;
    writeln!(
        to,
        "  asked for once         {once} ({} of objects)",
        of_objects(once)
    )?;
    match popularity.zipf {
        Some(z) => writeln!(
            to,
            "  zipf fit               alpha {:.3} over {} objects with {} requests or more; distance {:.3}{}",
            z.alpha,
            z.ranks,
            ZipfFit::LEAST,
            z.distance,
            if z.distance > 0.2 { ": no zipf law" } else { "" }
        )?,
        None => writeln!(
            to,
            "  zipf fit               none: fewer than 10 objects with {} requests or more",
            ZipfFit::LEAST
        )?,
    }
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
            percent(popularity.share_of_top(objects)),
            stats.lru_miss_ratio(objects)
        )?;
    }
    writeln!(
        to,
        "\nReuse ({} requests for what came before)",
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
        "  Both count the second request: an LRU cache of that many objects hits that share. To 0.4 %."
    )
}
