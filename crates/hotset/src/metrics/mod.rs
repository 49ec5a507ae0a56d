//! `hotset metrics`: the daemon's metrics, for a person or for the textfile collector of node_exporter.
use crate::shell::{self, out};
use anyhow::{anyhow, Context, Result};
use clap::{Args, ValueHint};
use hotsetd::config::file::{load, Place};
use hotsetd::telemetry::server::Listen;
use names::{io_error, shown};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How long the daemon may take for each step.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Args)]
#[command(
    after_help = "The daemon serves metrics where `listen` of [metrics] says so in its configuration.\n\n\
    Examples:\n  \
    sudo hotset metrics\n  \
    sudo hotset metrics --output /var/lib/prometheus/node-exporter/hotset.prom"
)]
pub struct MetricsArgs {
    /// Write to FILE, which is replaced at once and whole, instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// The folder that stands for /, as with `hotsetd --root`
    #[arg(long, value_name = "DIR", default_value = "/", value_hint = ValueHint::DirPath)]
    root: PathBuf,
}

/// Asks the daemon, and prints or writes the page.
///
/// # Errors
/// The configuration is wrong or has no metrics, nobody answers, or the output cannot be written.
pub fn run(args: &MetricsArgs) -> Result<ExitCode> {
    let config = load(&Place::usual(&args.root)).map_err(|problems| {
        let first = problems.first().map(ToString::to_string);
        anyhow!(
            "hotsetd's configuration is wrong: {}",
            first.unwrap_or_default()
        )
    })?;
    let page = ask(&config.metrics, &args.root)?;
    match &args.output {
        Some(file) => outfile::write(file, outfile::Rules::REPLACE, &page)?,
        None => out!("{page}")?,
    }
    Ok(ExitCode::SUCCESS)
}

fn ask(listen: &Listen, root: &Path) -> Result<String> {
    match listen {
        Listen::Nowhere => Err(anyhow!(
            "no metrics are served: write `listen = \"unix:/run/hotset/metrics.sock\"` below [metrics] into \
             /etc/hotset/hotsetd.conf.d/metrics.conf, then: systemctl restart hotsetd"
        )),
        Listen::Unix(path) => {
            let path = root.join(path.strip_prefix("/").unwrap_or(path));
            let place = shown(&path).to_string();
            shell::verbose(format!("socket: {place}"));
            let stream = UnixStream::connect(&path).map_err(|error| unanswered(&place, &error))?;
            stream.set_read_timeout(Some(PATIENCE)).context("socket")?;
            page(stream, &place)
        }
        Listen::Tcp(address) => {
            let place = address.to_string();
            let stream = TcpStream::connect_timeout(address, PATIENCE);
            let stream = stream.map_err(|error| unanswered(&place, &error))?;
            stream.set_read_timeout(Some(PATIENCE)).context("socket")?;
            page(stream, &place)
        }
    }
}

fn unanswered(place: &str, error: &std::io::Error) -> anyhow::Error {
    anyhow!(
        "{place}: no daemon answers: {}; to start it: systemctl start hotsetd",
        io_error(error)
    )
}

/// The body of the answer over HTTP.
fn page(mut stream: impl Read + Write, place: &str) -> Result<String> {
    let mut answer = String::new();
    stream
        .write_all(b"GET /metrics HTTP/1.0\r\n\r\n")
        .and_then(|()| stream.read_to_string(&mut answer))
        .map_err(|error| unanswered(place, &error))?;
    match answer.split_once("\r\n\r\n") {
        Some((head, page)) if head.split_whitespace().nth(1) == Some("200") => Ok(page.to_owned()),
        _ => Err(anyhow!("{place}: another program than hotsetd answers")),
    }
}
