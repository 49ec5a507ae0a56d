//! Where a campaign's tasks run.
use crate::shell::usage;
use anyhow::{Context, Result};
use campaign::engines::{Engine, HyperQueue, Kubernetes, Local, Parallel, Pod, Slurm, Volume};
use clap::{Args, ValueEnum};

#[derive(Args)]
pub struct OnArgs {
    /// What runs the tasks [default: this machine]
    #[arg(long, value_name = "ENGINE", value_enum)]
    on: Option<On>,
    /// Tasks at once: here, on each machine of parallel, or pods [default: one for each processor, 16 pods]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// An option for the engine: of sbatch, hq submit, parallel or kubectl; may be given several times
    #[arg(
        long,
        value_name = "OPTION",
        allow_hyphen_values = true,
        requires = "on"
    )]
    with: Vec<String>,
    /// kubernetes: the image with hotset
    #[arg(long, value_name = "IMAGE", requires = "on")]
    image: Option<String>,
    /// kubernetes: a claim, and its path in pods. The campaign's folder and traces have the same paths there
    /// as here
    #[arg(long, value_name = "CLAIM:PATH", requires = "on")]
    volume: Vec<Volume>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum On {
    /// Slurm, as job arrays: sbatch, squeue, scontrol
    Slurm,
    /// HyperQueue, as task arrays: hq
    Hyperqueue,
    /// GNU parallel, here or by ssh
    Parallel,
    /// Kubernetes, as indexed Jobs: kubectl
    Kubernetes,
}

/// Pods at once.
const PODS: usize = 16;

impl OnArgs {
    /// The engine.
    ///
    /// # Errors
    /// Options are missing, or are another engine's.
    pub fn engine(&self) -> Result<Box<dyn Engine>> {
        let program = std::env::current_exe().context("this program's own file")?;
        let (jobs, with) = (self.jobs.map(usize::from), self.with.clone());
        let scheduled = matches!(self.on, Some(On::Slurm | On::Hyperqueue));
        if scheduled && jobs.is_some() {
            return Err(usage!(
                "--jobs: this engine itself decides how many tasks run at once"
            ));
        }
        if self.on != Some(On::Kubernetes) && (self.image.is_some() || !self.volume.is_empty()) {
            return Err(usage!("--image, --volume: they are for --on kubernetes"));
        }
        Ok(match self.on {
            None => {
                let all = || std::thread::available_parallelism().map_or(1, usize::from);
                let jobs = jobs.unwrap_or_else(all);
                Box::new(Local { program, jobs })
            }
            Some(On::Slurm) => Box::new(Slurm { program, with }),
            Some(On::Hyperqueue) => Box::new(HyperQueue { program, with }),
            Some(On::Parallel) => Box::new(Parallel {
                program,
                jobs,
                with,
            }),
            Some(On::Kubernetes) => Box::new(Kubernetes {
                pod: self.pod(jobs)?,
                with,
            }),
        })
    }

    fn pod(&self, jobs: Option<usize>) -> Result<Pod> {
        let image = self.image.clone();
        let image =
            image.ok_or_else(|| usage!("--on kubernetes: --image names the image with hotset"))?;
        if self.volume.is_empty() {
            return Err(usage!(
                "--on kubernetes: --volume names the claim with the campaign's folder and traces"
            ));
        }
        Ok(Pod {
            image,
            parallelism: jobs.unwrap_or(PODS),
            volumes: self.volume.clone(),
            user: rustix::process::getuid().as_raw(),
            group: rustix::process::getgid().as_raw(),
        })
    }
}
