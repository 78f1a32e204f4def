//! The trade-off drawn in the terminal.

/// A point: leakage, utility.
pub type At = (f64, f64);

const WIDTH: usize = 64;
const HEIGHT: usize = 16;

/// Draws curves of utility (up) over leakage (right), each with its own mark; later ones on top.
pub fn draw(curves: &[(char, &str, Vec<At>)]) -> String {
    let all = || curves.iter().flat_map(|c| c.2.iter());
    let most = all().map(|p| p.0).fold(0.0, f64::max).max(1e-9);
    let least = all().map(|p| p.1).fold(1.0, f64::min).clamp(0.0, 1.0 - 1e-9);
    let mut grid = vec![[' '; WIDTH]; HEIGHT];
    for (mark, _, points) in curves {
        for (leakage, utility) in points {
            let x = (leakage / most).clamp(0.0, 1.0) * (WIDTH - 1) as f64;
            let y = ((utility - least) / (1.0 - least)).clamp(0.0, 1.0) * (HEIGHT - 1) as f64;
            grid[HEIGHT - 1 - y.round() as usize][x.round() as usize] = *mark;
        }
    }
    let mut text = String::from("utility\n");
    for (i, line) in grid.iter().enumerate() {
        let edge = match i {
            0 => "100 %".to_owned(),
            _ if i == HEIGHT - 1 => format!("{:.0} %", 100.0 * least),
            _ => String::new(),
        };
        let line: String = line.iter().collect();
        text.push_str(&format!("{edge:>6} │{}\n", line.trim_end()));
    }
    text.push_str(&format!("       └{}\n", "─".repeat(WIDTH)));
    let right = format!("{:.1} % leakage", 100.0 * most);
    text.push_str(&format!("        0{right:>width$}\n", width = WIDTH - 1));
    let legend: Vec<String> = curves.iter().map(|c| format!("{} {}", c.0, c.1)).collect();
    text.push_str(&format!("        {}", legend.join("   ")));
    text
}
