//! What every command says when all is well, for people and as JSON.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::{FIT, Folder, assert_same, rounded};
use serde_json::Value;

/// One snapshot of several commands run one after another.
fn session(folder: &Folder, name: &str, lines: &[&str]) {
    let run = |line: &&str| folder.sarl(line).succeeded().transcript();
    assert_same(name, &lines.iter().map(run).collect::<Vec<_>>().join("\n"));
}

const LABELS: &str = "people.csv -t income -s sex --drop id,weight";

#[test]
fn bounds() {
    let folder = Folder::with_people();
    let line = format!("bounds {LABELS}");
    session(&folder, "bounds", &[&line, &format!("{line} --json")]);
}

#[test]
fn front() {
    let folder = Folder::with_people();
    let people = format!("front {LABELS} --csv front.csv");
    session(&folder, "front", &[&people, &format!("front {LABELS} --points 3 --json")]);
    let csv = folder.text("front.csv");
    assert_eq!(csv.lines().count(), 102, "a header and 101 points");
    let ends = [0, 1, 101].map(|i| csv.lines().nth(i).unwrap().to_owned() + "\n");
    assert_same("front_csv", &rounded(&ends.concat()));
}

#[test]
fn fit_retune_info() {
    let folder = Folder::with_people();
    let fit = format!("fit people.csv {FIT} -o model.safetensors");
    session(&folder, "fit", &[&fit, &format!("{fit} --json")]);
    let retune = "retune model.safetensors --min-utility 0.9 -o other.safetensors";
    session(&folder, "retune", &[retune, &format!("{retune} --json")]);
    session(&folder, "info", &["info model.safetensors", "info other.safetensors --json"]);
    assert_eq!(folder.names(), ["model.safetensors", "other.safetensors", "people.csv"]);
}

#[test]
fn encode() {
    let folder = Folder::with_model();
    folder.write("new.csv", common::people::csv(4));
    let to = |more: &str| format!("encode model.safetensors new.csv --keep id,sex -o {more}");
    session(&folder, "encode", &[&to("-"), &to("z.csv"), &to("z.parquet --json")]);
    let printed = folder.sarl(&to("-")).succeeded().stdout;
    assert_eq!(folder.text("z.csv"), printed, "a file holds what stdout shows");
}

#[test]
fn warnings_reach_people_unless_quiet() {
    let folder = Folder::with_people();
    let few = common::people::csv(24);
    folder.write("few.csv", few);
    let shared = "bounds people.csv -t income -s sex --features age,hours,sex";
    let capped =
        "bounds people.csv -t income -s sex --features age,hours --kernel rbf --landmarks 5";
    let few = "fit few.csv -t income -s sex --drop id --lambda 0.5 --ridge auto -o m.safetensors";
    session(&folder, "warnings", &[shared, capped, few, &format!("{shared} --quiet")]);
}

/// Nothing on stdout is wider than a terminal of 80 columns; a wider one shows more.
#[test]
fn output_fits_the_terminal() {
    let folder = Folder::with_model();
    let audit = "audit model.safetensors people.csv --probes linear,trees --seeds 1";
    let audited = format!("fit people.csv {FIT} -o m.safetensors --html r.html --audit");
    let front = "front people.csv -t income -s sex --drop id,weight";
    let along = format!("{front} --html r.html --audit");
    for line in ["info model.safetensors", audit, &audited, front, &along] {
        let text = folder.sarl(line).succeeded().stdout;
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "sarl {line}\n{text}");
        assert_eq!(text.contains("strongest attacker"), line.contains("audit"), "{text}");
        assert!(!text.contains('\u{1b}'), "emphasis without a terminal: {text}");
    }
    let wide = folder.command(audit).env("COLUMNS", "200").output().unwrap().stdout;
    assert!(String::from_utf8(wide).unwrap().contains("95 % interval "));
}

/// The linear encoder to the digit; the kernel's landmarks hang on the last bit of the machine.
#[test]
fn demo() {
    let folder = Folder::new();
    let run = folder.sarl("demo -o out").succeeded();
    assert_eq!(run.stderr, "");
    let (linear, rest) = run.stdout.split_once("── RBF kernel encoder").unwrap();
    // What attackers find hangs on the machine too.
    let (before, after) = linear.split_once("\nNo clear gain:").unwrap();
    let (verdict, after) = after.split_once("\n\nKeeps").unwrap();
    assert!(verdict.contains("always\nguessing") || verdict.contains("always guessing"));
    assert_same("demo", &rounded(&format!("{before}\nKeeps{after}")));
    for part in ["── Both fronts", "majority guess", "written to out/"] {
        assert!(rest.contains(part), "{part}");
    }
    let json = folder.sarl("demo -o out --json").succeeded().json();
    let linear = &json["linear"];
    let (points, kernel) = (linear["points"].as_array().unwrap(), &json["kernel"]);
    assert_eq!((points.len(), kernel["points"].as_array().unwrap().len()), (101, 101));
    assert!(kernel["fit"]["leakage"].as_f64().unwrap() <= 0.01 + 1e-9);
    let mut short = linear.clone();
    short["points"] = Value::Array(vec![points[0].clone(), points[100].clone()]);
    assert_same("demo_json", &rounded(&serde_json::to_string_pretty(&short).unwrap()));
}

#[test]
fn data_list() {
    let folder = Folder::new();
    session(&folder, "data_list", &["data list"]);
    let json = folder.sarl("data list --json").succeeded().json();
    let sets = json["datasets"].as_array().unwrap();
    let names: Vec<&str> = sets.iter().map(|d| d["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["gaussian", "adult", "german", "yaleb", "cifar100", "acs"]);
    assert!(sets.iter().all(|d| d["files"][0]["path"].is_null()), "an empty home has none");
}

#[test]
fn completions_for_every_shell() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.sarl(&format!("completions {shell}")).succeeded().stdout;
        assert!(script.contains("max-leakage"), "{shell}");
    }
    let bash = folder.sarl("completions bash").stdout;
    let start: Vec<&str> = bash.lines().take(3).collect();
    assert_eq!(start, ["_sarl() {", "    local i cur prev opts cmd", "    COMPREPLY=()"]);
}

#[test]
fn man_pages() {
    let folder = Folder::new();
    session(&folder, "man", &["man pages"]);
    let inside = std::fs::read_dir(folder.path("pages")).unwrap();
    let mut names: Vec<_> = inside.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_same("man_names", &names.join("\n"));
    assert!(folder.text("pages/sarl-fit.1").contains("Example"));
}

#[test]
fn help() {
    let folder = Folder::new();
    session(&folder, "help", &["--help", "fit --help"]);
}

/// The examples in `--help` of a command that need neither a shell nor a network.
fn examples(folder: &Folder, command: &str) -> Vec<String> {
    let help = folder.sarl(&format!("{command} --help")).succeeded().stdout;
    let (_, after) = help.split_once("Example:\n").unwrap();
    let lines = after.lines().filter_map(|l| l.trim().strip_prefix("sarl "));
    lines.filter(|l| !l.contains(['>', '&']) && *l != "data get adult").map(Into::into).collect()
}

#[test]
fn the_examples_of_every_command_run() {
    let folder = Folder::new();
    let commands = [
        "demo",
        "bounds",
        "front",
        "fit",
        "retune",
        "encode",
        "info",
        "data",
        "completions",
        "man",
    ];
    for command in commands {
        for line in examples(&folder, command) {
            folder.sarl(&line).succeeded();
        }
    }
    assert!(folder.path("m2.safetensors").exists() && folder.path("z.csv").exists());
}

#[test]
fn rounding_keeps_words_and_whole_numbers() {
    assert_eq!(rounded("x1.5 held-out 12 rows, v1"), "x1.5 held-out 12 rows, v1");
    assert_eq!(rounded("a 0.12345678 b"), "a 0.12345700 b");
    assert_eq!(rounded("± 0.500000 95.30 % 1.00"), "± 0.500000 95.30 % 1.00");
    assert_eq!(rounded("1.0 1 0.9999999999999999 -1e-17 0.0"), "1 1 1 0 0");
    assert_eq!(rounded("gap 3.1e-16; 4.4e-3, 1e100"), "gap 0; 4.4e-3, 1e100");
    assert_eq!(rounded("[-0.12345678901234567]"), "[-0.123457]");
    assert_eq!(rounded("version 0.1.0"), "version 0.1.0");
}

/// Erasures of the layers of a network, as `sarl.torch.Scrubber` writes them.
#[test]
fn info_of_layers() {
    use sarl::{Concept, Layer, LayerAbout, Layers};
    let folder = Folder::with_people();
    let concept = |name: &str, heldout| Concept {
        name: name.into(),
        limit: (name == "gender").then_some(0.0),
        leakage: 0.0,
        heldout,
    };
    let layer = |name: &str, concepts| {
        let (found, taken) = (faer::mat![[1.0], [0.0], [0.5]], faer::mat![[1.0, 0.25, 0.0]]);
        let about = LayerAbout { at: "output".into(), rows: 4096, concepts, ..Default::default() };
        Layer::new(name, vec![0.0; 3], found, taken).unwrap().described(about)
    };
    let both = vec![concept("gender", Some(0.0125)), concept("number", Some(0.5))];
    let layers = vec![layer("model.layers.0", both), layer("norm", vec![concept("gender", None)])];
    let layers = Layers::new("sequential", layers).unwrap();
    folder.write("layers.safetensors", layers.to_bytes().unwrap());
    session(&folder, "info_layers", &["info layers.safetensors", "info layers.safetensors --json"]);
}
