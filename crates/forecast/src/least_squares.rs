//! The slope by least squares.

/// The least-squares slope and intercept of `(t, x)`: the slope is Sxt / Stt. Both sums are taken
/// around the means, so that large times lose no digits. `None` with fewer than 2 distinct times.
///
/// The policy does not use this slope, because one outlier carries it away. It is the baseline
/// that [`crate::TheilSen`] is compared with.
pub fn least_squares(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let (t_sum, x_sum) = points
        .iter()
        .fold((0.0, 0.0), |(t, x), point| (t + point.0, x + point.1));
    let (t_mean, x_mean) = (t_sum / n, x_sum / n);
    let (mut stt, mut sxt) = (0.0, 0.0);
    for (t, x) in points {
        stt += (t - t_mean) * (t - t_mean);
        sxt += (t - t_mean) * (x - x_mean);
    }
    (stt > 0.0).then(|| (sxt / stt, x_mean - sxt / stt * t_mean))
}
