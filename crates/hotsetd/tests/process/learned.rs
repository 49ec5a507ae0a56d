//! What was learned outlives the daemon.
use crate::common::{FakeMachine, MANAGED};
use crate::process::Process;
use crate::started::{burst, started, status, QUICK};

fn machine() -> FakeMachine {
    let machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    machine
}

fn end(mut process: Process) {
    process.signal(libc::SIGTERM);
    assert!(process.wait().success(), "{}", process.log());
}

fn learned(machine: &FakeMachine) -> String {
    machine.read("var/lib/hotset/learned")
}

#[test]
fn the_first_decision_after_a_restart_is_that_before_it() {
    let mut machine = machine();
    let mut process = started(&machine, &[]);
    burst(&mut machine, &mut process);
    machine.free = 300_000;
    machine.write();
    let raised = |process: &mut Process| {
        let mut wanted = 0;
        process.until("a decision on the calm machine", |_| {
            let Some(status) = status(&machine) else {
                return false;
            };
            let calm = status.nodes.iter().any(|node| node.free_pages == 300_000);
            wanted = status.watermarks.wanted;
            calm && wanted > 10 && machine.wsf() > 10
        });
        wanted
    };
    let before = raised(&mut process);
    end(process);
    assert_eq!(machine.wsf(), 10, "the knob is given back");
    // Another part's number, as a later daemon may have one.
    machine.put(
        "var/lib/hotset/learned",
        &format!("a_number 12.5\n{}", learned(&machine)),
    );
    let kept = learned(&machine);
    let mut restore = Process::start(machine.root(), &["--restore"]);
    assert!(restore.wait().success());
    assert_eq!(learned(&machine), kept);

    let mut process = started(&machine, &[]);
    assert_eq!(raised(&mut process), before);
    end(process);
    assert!(
        learned(&machine).contains("\na_number 12.5\n"),
        "{}",
        learned(&machine)
    );
}

#[test]
fn a_damaged_or_foreign_file_is_ignored_with_a_notice() {
    let mut machine = machine();
    let mut process = started(&machine, &[]);
    burst(&mut machine, &mut process);
    end(process);
    let good = learned(&machine);
    machine.free = 300_000;
    machine.write();
    let pages = |pages: u64| format!("machine.pages {pages}\n");
    let foreign = good.replace(&pages(MANAGED), &pages(MANAGED * 2));
    assert_ne!(foreign, good);
    let cut = &good[..good.len() - 1];
    for bad in ["", "garbage\n", "\u{1}\u{2}\n", cut, &foreign] {
        machine.put("var/lib/hotset/learned", bad);
        let mut process = started(&machine, &[]);
        process.until_logged("var/lib/hotset/learned: ");
        assert_eq!(machine.wsf(), 10, "{}", process.log());
        end(process);
        // The next file is whole.
        assert!(
            learned(&machine).contains(&pages(MANAGED)),
            "{}",
            learned(&machine)
        );
    }
    // None is read or written where the setting is empty.
    machine.put(
        "etc/hotset/hotsetd.conf",
        &format!("learned = \"\"\n{QUICK}"),
    );
    machine.put("var/lib/hotset/learned", &good);
    let process = started(&machine, &[]);
    assert_eq!(machine.wsf(), 10);
    end(process);
    assert_eq!(learned(&machine), good);
}
