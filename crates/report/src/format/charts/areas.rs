//! Areas, each on the ones before: parts of a whole over time.
use super::scale::Scale;
use super::svg::STYLES;
use maud::{html as markup, Markup};

/// The points of a line.
type Points = Vec<(f64, f64)>;

/// The lines, each with the sum of the ones before added. A missing value is zero.
pub(super) fn stack<'a>(lines: impl Iterator<Item = &'a Points>) -> Vec<Points> {
    let mut sums: Vec<f64> = Vec::new();
    let on_top = |line: &Points| {
        sums.resize(sums.len().max(line.len()), 0.0);
        let points = line.iter().zip(&mut sums).map(|(&(x, y), sum)| {
            *sum += if y.is_finite() { y.max(0.0) } else { 0.0 };
            (x, *sum)
        });
        points.collect()
    };
    lines.map(on_top).collect()
}

/// The areas between the lines of a stack.
pub(super) fn drawn(stack: &[Points], x: Scale, y: Scale) -> Markup {
    let place = |&(at, value): &(f64, f64)| format!("{:.1},{:.1}", x.at(at), y.at(value));
    let area = |at: usize| {
        let top = &stack[at];
        let floor: Points = match at {
            0 => top.iter().map(|&(px, _)| (px, 0.0)).collect(),
            _ => stack[at - 1].clone(),
        };
        let round = top.iter().chain(floor.iter().rev()).map(place);
        round.collect::<Vec<String>>().join(" ")
    };
    markup! {
        @for (at, line) in stack.iter().enumerate() {
            @if line.len() > 1 {
                polygon class=(format!("area s{}", at % STYLES)) points=(area(at)) {}
            }
        }
    }
}

/// The colour of an area.
pub(super) fn key(place: usize) -> Markup {
    markup! {
        svg class="key" viewBox="0 0 12 12" aria-hidden="true" {
            rect class=(format!("area s{}", place % STYLES)) width="12" height="12" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_lies_on_the_sum_of_those_before() {
        let lines = [
            vec![(0.0, 1.0), (1.0, 2.0)],
            vec![(0.0, 5.0), (1.0, f64::NAN)],
        ];
        let stack = stack(lines.iter());
        assert_eq!(stack[1], [(0.0, 6.0), (1.0, 2.0)]);
        assert_eq!(stack[0], lines[0]);
    }
}
