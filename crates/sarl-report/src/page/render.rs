//! The file.

use super::Page;
use crate::error::{ReportError, Result};

/// The frame of the page: placeholders in comments.
const FRAME: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");
/// Drawn with these; see `assets/README.md` for where they come from.
const LIBRARIES: [&str; 2] = [
    include_str!("../../assets/vendor/d3.min.js"),
    include_str!("../../assets/vendor/plot.umd.min.js"),
];
/// Ours, in the order in which they build on each other.
const SCRIPTS: [&str; 13] = [
    include_str!("../../assets/page/words.js"),
    include_str!("../../assets/page/stage.js"),
    include_str!("../../assets/page/axis.js"),
    include_str!("../../assets/page/marks.js"),
    include_str!("../../assets/page/legend.js"),
    include_str!("../../assets/page/panel.js"),
    include_str!("../../assets/page/table.js"),
    include_str!("../../assets/page/figure.js"),
    include_str!("../../assets/page/embedding.js"),
    include_str!("../../assets/page/weights.js"),
    include_str!("../../assets/page/readout.js"),
    include_str!("../../assets/page/explorer.js"),
    include_str!("../../assets/page/page.js"),
];

/// The version of D3 in the page.
pub const D3_VERSION: &str = "7.9.2";
/// The version of Observable Plot in the page.
pub const PLOT_VERSION: &str = "0.6.17";

impl Page {
    /// The whole file.
    pub fn html(&self) -> Result<String> {
        let data = serde_json::to_string(self).map_err(|e| ReportError::Page(e.to_string()))?;
        // Inside a script element only `</script` and `<!--` mean anything.
        let data = data.replace('<', "\\u003c");
        let libraries = LIBRARIES.map(script).concat();
        let scripts =
            format!("<script>\"use strict\";\n(() => {{\n{}}})();\n</script>\n", SCRIPTS.concat());
        let title = text(&self.title);
        // Data last: what it says must not be taken for a placeholder.
        let mut html = FRAME.to_owned();
        for (place, part) in [
            ("<!-- style -->", format!("<style>\n{STYLE}</style>")),
            ("<!-- libraries -->", libraries),
            ("<!-- scripts -->", scripts),
            ("<!-- title -->", title),
            ("<!-- data -->", data),
        ] {
            html = html.replacen(place, &part, 1);
        }
        Ok(html)
    }
}

fn script(source: &str) -> String {
    format!("<script>\n{source}\n</script>\n")
}

/// As text of an element.
fn text(raw: &str) -> String {
    raw.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
