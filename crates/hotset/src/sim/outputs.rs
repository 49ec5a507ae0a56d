//! The chart and the page beside what is printed.
use crate::shell::{page, svg, Force};
use anyhow::Result;
use clap::Args;
use outfile::OutFile;
use report::format::charts::line_chart::LineChart;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct OutputArgs {
    /// Also write the miss ratios as a chart, in SVG
    #[arg(long, value_name = "FILE.svg", value_parser = svg())]
    plot: Option<PathBuf>,
    /// Also write a page: the table, the chart, counters, the trace and the command. It needs no network
    #[arg(long, value_name = "FILE.html", value_parser = page())]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// The files, open since before the simulation.
pub struct Outputs {
    plot: Option<OutFile>,
    report: Option<OutFile>,
}

impl OutputArgs {
    /// Opens the files, so that one that cannot be written is found before the simulation.
    ///
    /// # Errors
    /// A file exists, or cannot be written.
    pub fn open(&self, inputs: &[&Path]) -> Result<Outputs> {
        let open = |path: &Option<PathBuf>| {
            let path = path.as_ref();
            path.map(|path| OutFile::create(path, self.force.rules(inputs)))
                .transpose()
        };
        Ok(Outputs {
            plot: open(&self.plot)?,
            report: open(&self.report)?,
        })
    }
}

impl Outputs {
    /// Writes the files that were asked for.
    ///
    /// # Errors
    /// A file cannot be written, or `page` fails.
    pub fn write(
        self,
        plot: impl Fn() -> LineChart,
        page: impl Fn() -> Result<String>,
    ) -> Result<()> {
        if let Some(file) = self.plot {
            file.whole(&plot().svg())?;
        }
        if let Some(file) = self.report {
            file.whole(&page()?)?;
        }
        Ok(())
    }
}
