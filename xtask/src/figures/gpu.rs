//! The table of the GPU: what `sarl-cuda`'s benchmark and `python/benches/gpu.py` print last, a line of JSON
//! each. Both run where there is a GPU, which need not be where the pages are written: `--from FILE` takes a
//! file of these two lines.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::readers::{Tables, number, stored};

/// Both lines.
pub(super) fn speed(lines: &str) -> Result<Tables> {
    let lines: Vec<Value> = lines
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .context("a line is not JSON")?;
    let [found, peers] = &lines[..] else {
        bail!("expected two lines of JSON: of the benchmark, and of python/benches/gpu.py");
    };
    let mut rows = linear(found, peers)?;
    rows.extend(kernel(found, peers)?);
    let device = found["device"].as_str().context("no `device`")?;
    let measured = format!(
        "`cargo run --release -p sarl-cuda --example bench` and `python python/benches/gpu.py` on {device} \
         with {} cores, one run each",
        number(&found["threads"])?
    );
    Ok(vec![("gpu-speed".into(), stored(&measured, &["work", "time", "beside"], rows))])
}

/// `python/benches/gpu_error.py`: what it prints.
pub(super) fn error(lines: &str) -> Result<Tables> {
    let last = lines.lines().rfind(|line| line.starts_with('{')).context("no line of JSON")?;
    let found: Value = serde_json::from_str(last).context("the line is not JSON")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = found["lines"].as_array().context("no `lines`")?.iter().map(|line| {
        let figures =
            ["bounds", "front", "z"].map(|key| Ok(format!("{:.0e}", number(&line[key])?)));
        let names = [Ok(text(&line["data"])), Ok(text(&line["way"]))];
        names.into_iter().chain(figures).collect::<Result<Vec<String>>>()
    });
    let columns =
        ["data", "device and precision", "bounds", "front of 13 points, held-out figures too", "z"];
    let measured = "`python python/benches/gpu_error.py` on a machine with an H200, beside the processor in \
                    doubles: the largest differences of losses and shares, and of z at a leakage of 0.01 in its \
                    standard deviations; the kernel has a ridge of 1e-4";
    Ok(vec![("gpu-error".into(), stored(measured, &columns, rows.collect::<Result<_>>()?))])
}

fn line(work: &str, time: String, beside: String) -> Vec<String> {
    vec![work.to_owned(), time, beside]
}

fn seconds(value: f64) -> String {
    if value < 10.0 { format!("{value:.2} s") } else { format!("{value:.0} s") }
}

fn thousands(count: f64) -> String {
    let digits = format!("{count:.0}");
    let grouped: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|d| std::str::from_utf8(d).ok()).collect();
    grouped.join(",")
}

fn linear(found: &Value, peers: &Value) -> Result<Vec<Vec<String>>> {
    let (limits, linear) = (&found["limits"], &found["linear"]);
    let of = |way: &str, key: &str| number(&linear[way][key]);
    let size = |key: &str| Ok::<_, anyhow::Error>(thousands(number(&linear[key])?));
    let (there, dgemm) = (of("double", "there_s")?, number(&limits["dgemm_tflops"])?);
    let long = number(&limits["dgemm_long_tflops"])?;
    let share =
        |of_what: f64| Ok::<_, anyhow::Error>(100.0 * of("double", "there_tflops")? / of_what);
    let beside = format!(
        "{:.0} % of `dgemm` for as long, {:.0} % of one; a triangle counts half",
        share(long)?,
        share(dgemm)?
    );
    let (host, floor) = (of("double", "host_s")?, number(&linear["host_floor_s"])?);
    let (pushed, locked) = (of("locked", "pushed_s")?, of("locked", "floor_s")?);
    let cpu = number(&linear["cpu_s"])?;
    let peer = |key: &str| number(&peers[key]);
    let (ours, theirs) = (peer("ours_double_s")?, peer("leace_moments_double_s")?);
    let (ours_single, theirs_single) = (peer("ours_single_s")?, peer("leace_moments_single_s")?);
    let cores = number(&found["threads"])?;
    let slower = |way: &str| -> Result<Vec<String>> {
        let time = of(way, "there_s")?;
        let beside = format!("{:.2} × the time of doubles", time / there);
        Ok(line(&format!("the same, `{way}`"), seconds(time), beside))
    };
    Ok(vec![
        line(
            "cuBLAS `dgemm`, 8192³",
            format!("{dgemm:.1} TFLOP/s"),
            format!("for as long as the moments take: {long:.1} TFLOP/s"),
        ),
        line(
            "copy from page-locked memory",
            format!("{:.1} GB/s", number(&limits["copy_gbs"])?),
            String::new(),
        ),
        line(
            &format!("packing into page-locked memory, {cores} threads"),
            format!("{:.0} GB/s", of("locked", "packing_gbs")?),
            String::new(),
        ),
        line(
            &format!(
                "moments of {} × {} doubles, five folds, rows on the device",
                size("rows")?,
                size("columns")?
            ),
            seconds(there),
            beside,
        ),
        slower("single")?,
        slower("fast")?,
        line(
            &format!(
                "{} rows of it in page-locked memory, until the device has them",
                thousands(of("locked", "rows")?)
            ),
            seconds(pushed),
            format!("{:.0} % of the rate of the copy", 100.0 * locked / pushed),
        ),
        line(
            "all rows in ordinary host memory, with the sums back there",
            seconds(host),
            format!("{:.0} % of the rate of the copy", 100.0 * floor / host),
        ),
        line(
            &format!(
                "{cores} cores of the same machine, at the rate of {} rows",
                thousands(number(&linear["cpu_rows"])?)
            ),
            seconds(cpu),
            format!("{:.0} × the time from host memory", cpu / host),
        ),
        line(
            "moments of a CUDA tensor of that size in Python, doubles, five folds, with the sums in host memory",
            seconds(ours),
            format!(
                "moments of `LeaceFitter` {}, without folds: {:.2} ×",
                seconds(theirs),
                theirs / ours
            ),
        ),
        line(
            "the same in single precision",
            seconds(ours_single),
            format!(
                "moments of `LeaceFitter` {}: {:.2} ×",
                seconds(theirs_single),
                theirs_single / ours_single
            ),
        ),
    ])
}

fn kernel(found: &Value, peers: &Value) -> Result<Vec<Vec<String>>> {
    let kernel = &found["kernel"];
    let size = |key: &str| Ok::<_, anyhow::Error>(thousands(number(&kernel[key])?));
    let of = |steps: &str, name: &str| -> Result<f64> {
        let steps = kernel[steps].as_array().with_context(|| format!("no `{steps}`"))?;
        let step = steps.iter().find(|step| step[0] == name);
        number(&step.with_context(|| format!("no step `{name}`"))?[1])
    };
    let here = |name: &str, rows: &str| -> Result<String> {
        let cores = number(&found["threads"])?;
        Ok(format!("{cores} cores {}{rows}", seconds(of("cpu_steps", name)?)))
    };
    let few = format!(" for {} rows", size("cpu_rows")?);
    let (all, cpu) = (number(&kernel["device_s"])?, number(&kernel["cpu_s"])?);
    let nystroem = number(&peers["nystroem_s"])?;
    let same = of("steps", "choose")? + of("steps", "push")?;
    let step = |name: &str| Ok::<_, anyhow::Error>(seconds(of("steps", name)?));
    Ok(vec![
        line(
            &format!(
                "kernel fit, {} × {}, {} landmarks, RBF: rows pass by",
                size("rows")?,
                size("columns")?,
                size("landmarks")?
            ),
            step("sample")?,
            "processor".into(),
        ),
        line("choice of the landmarks", step("choose")?, here("choose", "")?),
        line("features and sums, five folds, from host memory", step("push")?, here("push", &few)?),
        line("front of 13 trade-offs, one ridge", step("front")?, here("front", "")?),
        line("held-out losses at these", step("held-out")?, here("held-out", "")?),
        line(
            "all of it",
            seconds(all),
            format!(
                "{:.1} × faster than the cores, with sums at the rate of these rows",
                cpu / all
            ),
        ),
        line(
            "Nyström features by `torch.linalg.eigh` and their sums, on the device, without folds and labels",
            seconds(nystroem),
            format!("{:.2} × our choice, features and sums", nystroem / same),
        ),
    ])
}
