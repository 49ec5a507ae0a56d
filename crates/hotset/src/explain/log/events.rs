//! What happened in an incident, by time.
use explain::klog::incident::Incident;
use explain::klog::stamp::At;
use units::format_bytes;

/// Each kill, and each task that hung: when, and a sentence.
pub fn events(incident: &Incident) -> Vec<(At, String)> {
    let mut events = Vec::new();
    for report in &incident.reports {
        for victim in &report.victims {
            let with = match victim.bytes {
                0 => String::new(),
                bytes => format!(", with {} in memory", format_bytes(bytes as f64)),
            };
            let text = format!("the kernel killed {} ({}){with}", victim.name, victim.pid);
            events.push((report.at, text));
        }
    }
    for kill in &incident.by_programs {
        let pid = match kill.pid {
            0 => String::new(),
            pid => format!(" ({pid})"),
        };
        events.push((
            kill.at,
            format!("{} ended {}{pid}: {}", kill.by, kill.whom, kill.why),
        ));
    }
    for hung in &incident.hung {
        let text = format!(
            "{} ({}) had stood still for more than {} s",
            hung.name, hung.pid, hung.seconds
        );
        events.push((hung.at, text));
    }
    let place = |at: &At| at.unix_s.or(at.boot_s).unwrap_or(0.0);
    events.sort_by(|(a, _), (b, _)| place(a).total_cmp(&place(b)));
    events
}
