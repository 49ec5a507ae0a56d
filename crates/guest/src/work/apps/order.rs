//! The orders that the harness sends to an app's process.

/// The commands to an app's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Cold,
    Warm,
    Hot,
    Burst,
    Background,
}

const COMMANDS: [Command; 5] = [
    Command::Cold,
    Command::Warm,
    Command::Hot,
    Command::Burst,
    Command::Background,
];

/// A command and the number of the start that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub command: Command,
    pub turn: u32,
}

impl Order {
    pub const BYTES: usize = 5;

    pub fn to_bytes(self) -> [u8; Order::BYTES] {
        let mut bytes = [self.command as u8; Order::BYTES];
        bytes[1..].copy_from_slice(&self.turn.to_le_bytes());
        bytes
    }

    pub fn from_bytes(bytes: [u8; Order::BYTES]) -> Option<Order> {
        let [command, turn @ ..] = bytes;
        Some(Order {
            command: *COMMANDS.get(usize::from(command))?,
            turn: u32::from_le_bytes(turn),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_arrive_as_they_were_given() {
        for command in COMMANDS {
            let order = Order {
                command,
                turn: 70_000,
            };
            assert_eq!(Order::from_bytes(order.to_bytes()), Some(order));
        }
        assert_eq!(Order::from_bytes([9; 5]), None);
    }
}
