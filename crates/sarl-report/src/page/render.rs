//! The file.

use serde_json::{Value, json};

use super::chart::{Slot, chart};
use super::html::{copy_button, element, json as script_data, prose, text, typed};
use super::rows::Cloud;
use super::weights::Loads;
use super::{Explorer, Fact, Page, Section, fields, steps, summary, table, trade_off};
use crate::error::Result;
use crate::font::Fonts;
use crate::svg::escape;

/// The frame of the page: placeholders in comments.
const FRAME: &str = include_str!("../../assets/page.html");
const STYLE: &str = include_str!("../../assets/page.css");
/// In the order in which they build on each other.
const SCRIPTS: [&str; 4] = [
    include_str!("../../assets/page/words.js"),
    include_str!("../../assets/page/rows.js"),
    include_str!("../../assets/page/weights.js"),
    include_str!("../../assets/page/page.js"),
];

impl Page {
    /// The whole file.
    pub fn html(&self) -> Result<String> {
        let fonts = Fonts::load()?;
        let scripts =
            format!("<script>\"use strict\";\n(() => {{\n{}}})();\n</script>", SCRIPTS.concat());
        let parts = [
            ("<!-- style -->", format!("<style>\n{STYLE}</style>")),
            ("<!-- scripts -->", scripts),
            ("<!-- title -->", escape(&self.title)),
            ("<!-- head -->", self.head()),
            ("<!-- main -->", self.main(&fonts)?),
            ("<!-- data -->", script_data(&self.data())),
        ];
        // Each part once, from the front: what names say is never taken for a placeholder.
        let (mut html, mut rest) = (String::new(), FRAME);
        while let Some((before, after)) = rest.split_once("<!-- ") {
            html += before;
            let (name, after) = after.split_once(" -->").unwrap_or((after, ""));
            let place = format!("<!-- {name} -->");
            html += parts.iter().find(|(p, _)| *p == place).map_or("", |(_, part)| part);
            rest = after;
        }
        Ok(html + rest)
    }

    fn head(&self) -> String {
        format!("{}{}", text("h1", &[], &self.title), text("p", &[], &self.subtitle))
    }

    fn main(&self, fonts: &Fonts) -> Result<String> {
        let several = self.explorers.len() > 1;
        let each = |part: &dyn Fn(&Explorer, usize) -> String| -> String {
            self.explorers.iter().enumerate().map(|(k, e)| part(e, k)).collect()
        };
        // Bad news of one encoder is not behind the tab of another.
        let named = several && self.verdict.is_none();
        let verdicts = each(&|e, k| summary::verdict(e, k, named));
        let cards = each(&summary::cards);
        let mut lead = String::new();
        let mut others = String::new();
        for (k, one) in self.sections.iter().enumerate() {
            let to = if one.lead { &mut lead } else { &mut others };
            *to += &section(one, k, fonts)?;
        }
        let mut fronts = String::new();
        for (k, one) in self.explorers.iter().enumerate() {
            fronts += &trade_off::explorer(one, k, several, fonts)?;
        }
        let fronts = element("div", &[("id", "trade-off"), ("class", "section")], &fronts);
        let fronts = if self.explorers.is_empty() { String::new() } else { fronts };
        let steps = match &self.steps {
            Some(one) => steps::steps(one, fonts)?,
            None => String::new(),
        };
        let warnings = summary::warnings(&self.warnings);
        let (contents, tabs) = (summary::contents(self), tabs(&self.explorers));
        let parts = match &self.verdict {
            // What the page is about comes before what each encoder is about.
            Some(verdict) => [
                vec![summary::page_verdict(verdict), contents, summary::page_cards(self)],
                vec![warnings, lead, steps],
                vec![tabs, verdicts, cards, fronts],
            ]
            .concat(),
            None => [
                vec![verdicts, contents, summary::page_cards(self), tabs, cards],
                vec![warnings, lead, steps, fronts],
            ]
            .concat(),
        };
        Ok(parts.concat() + &others + &summary::glossary(self) + &about(&self.about))
    }

    /// What the scripts need.
    fn data(&self) -> Value {
        let explorer = |e: &Explorer| {
            let mut said = fields::columns(&e.positions);
            let cloud = Cloud::new(e);
            if let Some(cloud) = &cloud {
                let captions: Vec<String> =
                    (0..e.positions.len()).map(|k| cloud.caption(k)).collect();
                said["rows"] = json!({ "text": captions });
            }
            json!({
                "count": e.positions.len(),
                "start": e.start,
                "fields": said,
                "rows": cloud.map(|c| c.data()),
                "weights": Loads::new(e).map(|l| l.data()),
            })
        };
        json!({ "explorers": self.explorers.iter().map(explorer).collect::<Vec<_>>() })
    }
}

/// One explorer is shown at a time; without scripts all of them.
fn tabs(explorers: &[Explorer]) -> String {
    if explorers.len() < 2 {
        return String::new();
    }
    let tab = |(k, explorer): (usize, &Explorer)| {
        let (id, panel) = (format!("tab-{k}"), format!("explorer-{k}"));
        let selected = if k == 0 { "true" } else { "false" };
        let attributes = [
            ("type", "button"),
            ("role", "tab"),
            ("id", id.as_str()),
            ("aria-controls", panel.as_str()),
            ("aria-selected", selected),
        ];
        text("button", &attributes, &explorer.name)
    };
    let all: String = explorers.iter().enumerate().map(tab).collect();
    let attributes = [("role", "tablist"), ("aria-label", "Encoders"), ("class", "tabs live")];
    element("div", &attributes, &all) + "\n"
}

fn section(section: &Section, k: usize, fonts: &Fonts) -> Result<String> {
    let (id, title) = (format!("section-{k}"), format!("section-{k}-title"));
    let mut inside = text("h2", &[("id", &title)], &section.title);
    let mut attributes =
        vec![("id", id.as_str()), ("class", "section"), ("aria-labelledby", title.as_str())];
    let holds = section.holds.as_ref().map(|h| {
        let at: String = h.at.iter().map(|yes| if *yes { '1' } else { '0' }).collect();
        (h.explorer.to_string(), at)
    });
    if let (Some(holds), Some((explorer, at))) = (&section.holds, &holds) {
        attributes.extend([("data-of", explorer.as_str()), ("data-holds", at.as_str())]);
        let words = format!("The slider stands elsewhere: this is about {}. ", holds.words);
        let button =
            text("button", &[("type", "button"), ("class", "there live")], "Move the slider there");
        let note = format!("{}{button}", escape(&words));
        inside += &element("p", &[("class", "elsewhere"), ("hidden", "")], &note);
    }
    inside += &section
        .text
        .iter()
        .map(|t| element("p", &[("class", "prose")], &prose(t)))
        .collect::<String>();
    let mut charts = String::new();
    for (c, one) in section.charts.iter().enumerate() {
        charts += &chart(one, &format!("section-{k}-chart-{c}"), Slot::Grid, 0, fonts)?;
    }
    let tables: String = section.tables.iter().map(table::table).collect();
    inside += &element("div", &[("class", "charts")], &charts);
    Ok(element("section", &attributes, &(inside + &tables)) + "\n")
}

fn about(facts: &[Fact]) -> String {
    let value = |(k, fact): (usize, &Fact)| match fact.code {
        false => text("bdi", &[], &fact.value),
        true => {
            let id = format!("fact-{k}");
            let code = [("id", id.as_str()), ("dir", "ltr"), ("tabindex", "0")];
            format!(
                "{}{}",
                element("code", &code, &typed(&fact.value)),
                copy_button(&id, &fact.name)
            )
        }
    };
    let row = |(k, fact): (usize, &Fact)| {
        let name = text("dt", &[], &fact.name);
        element("div", &[], &format!("{name}{}", element("dd", &[], &value((k, fact)))))
    };
    let list: String = facts.iter().enumerate().map(row).collect();
    let heading = text("h2", &[("id", "about-title")], "About this report");
    let attributes = [("id", "about"), ("class", "section"), ("aria-labelledby", "about-title")];
    let list = element("dl", &[("class", "about")], &list);
    element("section", &attributes, &format!("{heading}{list}")) + "\n"
}
