//! Properties of every series.
use forecast::{least_squares, time_to, BlockMaxima, DecayingQuantile, Slope, TheilSen, Window};
use proptest::prelude::*;

const Z: f64 = 1.645;

/// Times that grow by irregular steps.
fn times(steps: &[f64]) -> Vec<f64> {
    steps
        .iter()
        .scan(0.0, |t, step| {
            *t += step;
            Some(*t)
        })
        .collect()
}

proptest! {
    #[test]
    fn a_line_has_its_own_slope(
        steps in prop::collection::vec(0.01f64..30.0, 3..24),
        slope in -1e6f64..1e6,
        offset in -1e9f64..1e9,
    ) {
        let points: Vec<_> = times(&steps).into_iter().map(|t| (t, offset + slope * t)).collect();
        let found = TheilSen::new(24, Z).slope(&points).unwrap();
        let close = |value: f64| (value - slope).abs() <= 1e-6 * (1.0 + slope.abs()) + 1e-4;
        prop_assert!(close(found.slope) && close(found.lower) && close(found.upper), "{found:?}");
        let (least, _) = least_squares(&points).unwrap();
        prop_assert!(close(least));
    }

    #[test]
    fn a_quarter_of_outliers_does_not_carry_the_slope_away(
        slope in -1000.0f64..1000.0,
        wild in prop::collection::vec((0usize..16, -1e9f64..1e9), 0..4),
    ) {
        let mut points: Vec<_> = (0..16).map(|i| (f64::from(i), slope * f64::from(i))).collect();
        for (index, value) in &wild {
            points[*index].1 = *value;
        }
        let found = TheilSen::new(16, Z).slope(&points).unwrap();
        // 12 of 16 points lie on the line: at least 66 of the 120 pair slopes are its own.
        prop_assert!((found.slope - slope).abs() <= 1e-6 * (1.0 + slope.abs()), "{found:?}");
    }

    #[test]
    fn scaling_and_tilting_a_series_scale_and_shift_its_slope(
        xs in prop::collection::vec(-1e6f64..1e6, 3..16),
        factor in 0.1f64..100.0,
        tilt in -1e3f64..1e3,
    ) {
        let points: Vec<_> = xs.iter().enumerate().map(|(i, x)| (i as f64, *x)).collect();
        let changed: Vec<_> = points.iter().map(|(t, x)| (*t, factor * x + tilt * t + 7.0)).collect();
        let mut theil_sen = TheilSen::new(16, Z);
        let (before, after) = (theil_sen.slope(&points).unwrap(), theil_sen.slope(&changed).unwrap());
        let expected = factor * before.slope + tilt;
        prop_assert!((after.slope - expected).abs() <= 1e-6 * (1.0 + expected.abs() + factor * 1e6));
        prop_assert!(before.lower <= before.slope && before.slope <= before.upper);
    }

    #[test]
    fn the_quantile_is_within_a_step_of_the_exact_one(
        values in prop::collection::vec(1.0f64..1e12, 1..200),
        q in 0.01f64..1.0,
    ) {
        let mut quantile = DecayingQuantile::new(1e9);
        for value in &values {
            quantile.add(0.0, *value);
        }
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = ((q * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len());
        let exact = sorted[rank - 1];
        let found = quantile.quantile(q);
        prop_assert!(found >= exact * 0.999 && found <= exact * 1.1, "{found} against {exact}");
    }

    #[test]
    fn a_recalled_series_has_the_quantile_and_the_count_of_the_first(
        values in prop::collection::vec(1.0f64..1e9, 1..60),
        q in 0.01f64..1.0,
    ) {
        let mut first = BlockMaxima::new(30.0, 3600.0);
        for (index, value) in values.iter().enumerate() {
            first.add(20.0 * index as f64, *value);
        }
        let now_s = 20.0 * values.len() as f64;
        let (quantile, count) = (first.quantile(q), first.count(now_s));
        // Also after many restarts.
        let mut last = first;
        for _ in 0..20 {
            let mut next = BlockMaxima::new(30.0, 3600.0);
            next.recall(7.0, last.quantile(q), count);
            prop_assert_eq!(next.quantile(q), quantile);
            prop_assert!((next.count(7.0) - count).abs() < 1e-9);
            last = next;
        }
    }

    #[test]
    fn a_window_holds_the_last_points_in_order(
        steps in prop::collection::vec(-1.0f64..5.0, 1..60),
        capacity in 2usize..20,
    ) {
        let mut window = Window::new(capacity);
        let mut kept: Vec<f64> = Vec::new();
        let mut now = 0.0;
        for step in steps {
            now += step;
            let later = kept.last().is_none_or(|last| now > *last);
            prop_assert_eq!(window.push(now, 0.0), later);
            if later {
                kept.push(now);
            }
        }
        let tail = &kept[kept.len().saturating_sub(capacity)..];
        let held: Vec<f64> = window.points().iter().map(|(t, _)| *t).collect();
        prop_assert_eq!(held.as_slice(), tail);
    }

    #[test]
    fn twice_as_far_takes_twice_as_long(above in 1.0f64..1e9, fall in 0.01f64..1e6) {
        let slope = Slope { slope: fall, lower: fall / 2.0, upper: fall * 2.0, points: 8 };
        let (near, far) = (time_to(above, &slope), time_to(2.0 * above, &slope));
        let ratio = far.expected_s.unwrap() / near.expected_s.unwrap();
        prop_assert!((ratio - 2.0).abs() < 1e-9);
        prop_assert!(near.earliest_s <= near.expected_s);
    }
}

/// With white noise around a line, Sen's interval of 90% must hold the slope of about 90% of the lines.
/// With 400 lines, 84% is four standard errors below.
#[test]
fn the_90_percent_interval_holds_the_slope_of_90_percent_of_lines() {
    let mut state = 12345u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut theil_sen = TheilSen::new(16, Z);
    let held = (0..400)
        .filter(|_| {
            let points: Vec<_> = (0..16)
                .map(|i| (f64::from(i), 3.0 * f64::from(i) + 20.0 * random()))
                .collect();
            let found = theil_sen.slope(&points).unwrap();
            found.lower <= 3.0 && 3.0 <= found.upper
        })
        .count();
    assert!((336..=400).contains(&held), "{held} of 400");
}

#[test]
fn one_wild_point_carries_least_squares_away() {
    let mut points: Vec<_> = (0..8)
        .map(|i| (f64::from(i), 100.0 * f64::from(i)))
        .collect();
    points[7].1 = -1e6;
    let (least, _) = least_squares(&points).unwrap();
    assert!(least < -10_000.0, "{least}");
    let robust = TheilSen::new(8, Z).slope(&points).unwrap();
    assert_eq!(robust.slope, 100.0);
}

#[test]
fn too_few_points_have_no_slope() {
    let mut theil_sen = TheilSen::new(8, Z);
    assert_eq!(theil_sen.slope(&[]), None);
    assert_eq!(theil_sen.slope(&[(0.0, 1.0), (1.0, 2.0)]), None);
    assert_eq!(least_squares(&[(1.0, 5.0)]), None);
    assert_eq!(least_squares(&[]), None);
}

#[test]
fn old_values_fade() {
    let mut quantile = DecayingQuantile::new(100.0);
    for _ in 0..100 {
        quantile.add(0.0, 1e6);
    }
    // Ten half-lives later a hundred old values weigh a tenth of one new one.
    quantile.add(1000.0, 10.0);
    assert!(quantile.quantile(0.5) < 12.0);
    assert!((quantile.weight(1000.0) - (100.0 / 1024.0 + 1.0)).abs() < 1e-9);
    // At this time the weight of a new value is beyond the largest f64.
    quantile.add(1e9, 10.0);
    assert!(quantile.quantile(0.5).is_finite());
}

#[test]
fn rare_blocks_are_not_drowned_by_many_events() {
    let mut maxima = BlockMaxima::new(10.0, 1e9);
    for block in 0..20 {
        for event in 0..1000 {
            maxima.add(f64::from(block) * 10.0 + f64::from(event) / 200.0, 5.0);
        }
        maxima.add(f64::from(block) * 10.0 + 6.0, 1000.0);
    }
    assert!(maxima.quantile(0.5) >= 1000.0);
    assert!((maxima.count(200.0) - 20.0).abs() < 1e-4);
}

#[test]
fn a_new_extreme_counts_at_once() {
    let mut maxima = BlockMaxima::new(30.0, 3600.0);
    assert_eq!(maxima.quantile(0.9), 0.0);
    maxima.add(0.0, 77.0);
    assert_eq!(maxima.quantile(0.1), 77.0);
}

#[test]
fn least_squares_gives_slope_and_intercept_of_a_line() {
    let points: Vec<_> = (0..8)
        .map(|i| (f64::from(i), 1234.0 - 5.0 * f64::from(i)))
        .collect();
    let (slope, intercept) = least_squares(&points).unwrap();
    assert!((slope + 5.0).abs() < 1e-9 && (intercept - 1234.0).abs() < 1e-9);
}
