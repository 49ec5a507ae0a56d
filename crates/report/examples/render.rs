//! `cargo run -p report --example render DIR`: writes a run's report again and prints it.
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: render DIR");
        return ExitCode::from(2);
    };
    match report::write(&dir) {
        Ok(written) => {
            print!("{}", report::terminal(&written.study, 80, false));
            println!("{}", written.html.display());
            ExitCode::from(u8::from(!written.study.all_hold()))
        }
        Err(error) => {
            eprintln!("render: {error:#}");
            ExitCode::from(2)
        }
    }
}
