//! One figure of each kind, over made-up numbers.

use sarl_report::{
    Axis, Bars, Colour, Cross, Dash, Figure, Histogram, Legend, Line, Panel, Points, Rule, Shape,
    Spread, Steps, Style, even_edges,
};

/// All of them.
pub fn all() -> Vec<Figure> {
    vec![front(), bounds(), embeddings(), scatter(), weights(), dimension(), groups(), attackers()]
}

/// Target against adversary accuracy of several encoders.
pub fn front() -> Figure {
    let x = Axis::new("adversary accuracy").percent();
    let mut panel = Panel::new("", x, Axis::new("target accuracy").percent());
    for (i, name) in ["SARL, linear", "SARL, kernel", "adversarial training", "LEACE", "no encoder"]
        .iter()
        .enumerate()
    {
        let lift = [0.0, 0.02, -0.025, -0.01, 0.01][i];
        let points: Vec<(f64, f64)> = (0..8)
            .map(|k| k as f64 / 7.0)
            .map(|t| (0.675 + 0.17 * t, 0.76 + lift + 0.09 * (1.0 - (-3.0 * t).exp())))
            .collect();
        let style = Style::nth(i);
        if i >= 3 {
            let alone = Points::new(*name, vec![points[if i == 3 { 1 } else { 7 }]]).size(4.5);
            panel = panel.mark(alone.look(style.colour, style.marker.unwrap_or_default()));
            continue;
        }
        let width = 0.004 + 0.004 * i as f64;
        let band =
            points.iter().map(|&(x, y)| Spread { x, low: y - width, high: y + width }).collect();
        panel = panel.mark(Line::new(*name, points).style(style).band(band));
    }
    panel = panel.mark(Rule::vertical("majority class (sex)", 0.6745)).mark(
        Rule::horizontal("majority class (income)", 0.751).look(Colour::Neutral, Dash::Dotted),
    );
    Figure::new("front", "Trade-off on Adult: income kept, sex hidden")
        .caption("Mean over five seeds; bands show the standard deviation. Up and left is better.")
        .legend(Legend::Right)
        .panel(panel)
}

/// The adversary's error against λ, between its bounds.
pub fn bounds() -> Figure {
    let mut figure = Figure::new("bounds", "What the adversary can learn").columns(2);
    for (title, top) in [("linear", 0.62), ("kernel", 0.83)] {
        let lambda = || (0..=60).map(|k| k as f64 / 60.0);
        let train: Vec<(f64, f64)> = lambda().map(|l| (l, 0.2 + (top - 0.2) * l.powi(3))).collect();
        let test = lambda()
            .map(|l| (l, 0.23 + (top - 0.22) * l.powi(3) + 0.006 * (40.0 * l).sin()))
            .collect();
        let panel = Panel::new(title, Axis::new("λ").range(0.0, 1.0), Axis::new("adversary MSE"))
            .mark(Line::new("α, training rows", train).style(Style::nth(0)))
            .mark(Line::new("α, test rows", test).style(Style::nth(1)))
            .mark(Rule::horizontal("αₘₐₓ", top))
            .mark(Rule::horizontal("αₘᵢₙ", 0.2).look(Colour::Neutral, Dash::Dotted));
        figure = figure.panel(panel);
    }
    figure
}

/// A one-dimensional embedding by attribute, for eight values of λ.
pub fn embeddings() -> Figure {
    let mut figure =
        Figure::new("embeddings", "One-dimensional embeddings by attribute").columns(4);
    for (i, lambda) in ["0", "0.1", "0.25", "0.5", "0.75", "0.9", "0.99", "1"].iter().enumerate() {
        let gap = 2.0 * (1.0 - i as f64 / 7.0);
        let (left, right) = (normals(400, 7 + i, -gap / 2.0), normals(400, 77 + i, gap / 2.0));
        let edges = even_edges(left.iter().chain(&right).copied(), 24);
        let label = |shown: bool, text: &str| if shown { text.to_owned() } else { String::new() };
        figure = figure.panel(
            Panel::new(
                format!("λ = {lambda}"),
                Axis::new(label(i > 3, "z")),
                Axis::new(label(i % 4 == 0, "rows")),
            )
            .mark(Histogram::of("female", &left, edges.clone(), 0))
            .mark(Histogram::of("male", &right, edges, 1)),
        );
    }
    figure
}

/// Data by target (shape) and attribute (colour).
pub fn scatter() -> Figure {
    let mut panel = Panel::new("", Axis::new("x₁"), Axis::new("x₂"));
    for (i, (name, at)) in [
        ("y = 0, s = 0", (-1.0, -1.0)),
        ("y = 0, s = 1", (1.5, -1.0)),
        ("y = 1, s = 0", (-1.0, 1.5)),
        ("y = 1, s = 1", (1.5, 1.5)),
    ]
    .iter()
    .enumerate()
    {
        let (x, y) = (normals(150, 3 * i + 1, at.0), normals(150, 5 * i + 2, at.1));
        let shape = [Shape::Circle, Shape::Triangle][i / 2];
        panel = panel.mark(
            Points::new(*name, x.into_iter().zip(y).collect()).look(Colour::Series(i % 2), shape),
        );
    }
    Figure::new("scatter", "Four Gaussians").panel(panel)
}

/// Weights of an encoder per feature.
pub fn weights() -> Figure {
    let names = [
        "age",
        "work class",
        "final weight",
        "education",
        "years of education",
        "marital status",
        "occupation",
        "relationship",
        "race",
        "gender",
        "capital gain",
        "capital loss",
        "hours per week",
        "native country",
    ];
    let values =
        vec![0.31, 0.05, 0.01, 0.12, 0.38, 0.22, 0.17, 0.28, 0.03, 0.004, 0.44, 0.15, 0.26, 0.02];
    let errors = values.iter().map(|value| 0.01 + 0.08 * value).collect();
    let panel =
        Panel::new("", Axis::new("").categories(names), Axis::new("weight (norm of the columns)"))
            .mark(Bars::new("", values).errors(errors).highlight(9));
    Figure::new("weights", "What the encoder uses").panel(panel)
}

/// The optimal dimension as exact steps.
pub fn dimension() -> Figure {
    let linear = vec![(0.0, 1.0), (0.12, 2.0), (0.5, 1.0), (0.93, 0.0), (1.0, 0.0)];
    let kernel = vec![
        (0.0, 7.0),
        (0.08, 6.0),
        (0.21, 5.0),
        (0.4, 3.0),
        (0.77, 2.0),
        (0.95, 1.0),
        (0.99, 0.0),
        (1.0, 0.0),
    ];
    let panel = Panel::new(
        "",
        Axis::new("λ").range(0.0, 1.0),
        Axis::new("optimal dimension").range(0.0, 8.0),
    )
    .mark(Steps::new("linear", linear).style(Style::nth(0).unmarked()))
    .mark(Steps::new("kernel", kernel).style(Style::nth(1).unmarked()));
    Figure::new("dimension", "Dimension of the optimal encoder").panel(panel)
}

/// Grouped bars of both signs, logarithmic axes, and a legend under each panel.
pub fn groups() -> Figure {
    let bars = Panel::new(
        "demographic parity gap",
        Axis::new("").categories(["Adult", "German", "CelebA"]),
        Axis::new("gap").percent(),
    )
    .mark(Bars::new("before", vec![0.19, 0.07, -0.12]).errors(vec![0.01, 0.03, 0.02]))
    .mark(
        Bars::new("after", vec![0.02, -0.01, 0.005])
            .errors(vec![0.01, 0.03, 0.02])
            .colour(Colour::Series(4)),
    );
    let time =
        |slope: f64| (3..8).map(|e| 10f64.powi(e)).map(|n| (n, 1e-7 * n.powf(slope))).collect();
    let log = Panel::new("time", Axis::new("rows").log(), Axis::new("seconds").log())
        .mark(Line::new("linear", time(1.0)).style(Style::nth(0)))
        .mark(Line::new("kernel", time(1.3)).style(Style::nth(1)));
    Figure::new("groups", "Before and after")
        .columns(2)
        .legend(Legend::EachPanel)
        .panel(bars)
        .panel(log)
}

/// Numbers that look normal: sums of twelve uniform ones.
fn normals(count: usize, seed: usize, mean: f64) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed as u64 + 1);
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..count).map(|_| mean + 0.6 * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0)).collect()
}

/// What attackers predict before and after, with intervals and values.
pub fn attackers() -> Figure {
    let names = ["boosted trees", "a network", "least squares"];
    let (raw, z) = ([0.857, 0.851, 0.74], [0.779, 0.772, 0.529]);
    let at = |values: [f64; 3]| values.into_iter().zip([0.0, 1.0, 2.0]).collect::<Vec<_>>();
    let label = |values: [f64; 3]| values.map(|v| format!("{:.1} %", 100.0 * v)).to_vec();
    let ends = z.map(|v| Cross { x: Some((v - 0.026, v + 0.026)), y: None }).to_vec();
    let line = Style { colour: Colour::Neutral, dash: Dash::Solid, marker: None };
    let x = Axis::new("accuracy").percent().least(0.05);
    let mut panel = Panel::new("", x, Axis::new("attacker").categories(names))
        .mark(Rule::vertical("guessing", 0.516).named());
    for (from, to) in at(raw).into_iter().zip(at(z)) {
        panel = panel.mark(Line::new("", vec![from, to]).style(line));
    }
    let before = Points::new("raw features", at(raw)).labels(label(raw));
    let panel = panel
        .mark(before.look(Colour::Series(4), Shape::Diamond))
        .mark(Points::new("z", at(z)).labels(label(z)).errors(ends));
    Figure::new("attackers", "What attackers predict of the colour").panel(panel)
}
