//! The trade-off drawn in the terminal.

/// A point: what is given away, what is kept.
pub type At = (f64, f64);

/// Where the upper end is.
#[derive(Clone, Copy)]
pub enum Top {
    /// All of it.
    All,
    /// The largest value.
    Largest,
}

const WIDTH: usize = 64;
const HEIGHT: usize = 16;

/// Draws curves over the axes (right, up), each with its own mark; later ones on top. The upper end is
/// 100 %, or the largest value where `top` says so.
pub fn draw(axes: (&str, &str), top: Top, curves: &[(char, &str, Vec<At>)]) -> String {
    let all = || curves.iter().flat_map(|c| c.2.iter());
    let most = all().map(|p| p.0).fold(0.0, f64::max).max(1e-9);
    let high = match top {
        Top::All => 1.0,
        // A score can be below nothing.
        Top::Largest => all().map(|p| p.1).fold(1e-3, f64::max),
    };
    let least = all().map(|p| p.1).fold(high, f64::min).clamp(0.0, high - 1e-9);
    let mut grid = vec![[' '; WIDTH]; HEIGHT];
    for (mark, _, points) in curves {
        for (leakage, utility) in points {
            let x = (leakage / most).clamp(0.0, 1.0) * (WIDTH - 1) as f64;
            let y = ((utility - least) / (high - least)).clamp(0.0, 1.0) * (HEIGHT - 1) as f64;
            grid[HEIGHT - 1 - y.round() as usize][x.round() as usize] = *mark;
        }
    }
    let mut text = format!("{}\n", axes.1);
    for (i, line) in grid.iter().enumerate() {
        let edge = match i {
            0 => format!("{:.0} %", 100.0 * high),
            _ if i == HEIGHT - 1 => format!("{:.0} %", 100.0 * least),
            _ => String::new(),
        };
        let line: String = line.iter().collect();
        text.push_str(&format!("{edge:>6} │{}\n", line.trim_end()));
    }
    text.push_str(&format!("       └{}\n", "─".repeat(WIDTH)));
    let right = format!("{:.1} % {}", 100.0 * most, axes.0);
    text.push_str(&format!("        0{right:>width$}\n", width = WIDTH - 1));
    let legend: Vec<String> = curves.iter().map(|c| format!("{} {}", c.0, c.1)).collect();
    text.push_str(&format!("        {}", legend.join("   ")));
    text
}
