//! A device whose memory others take, before and while rows are added. Each test takes it all, so that
//! they run one after the other. Where there is no GPU each test says that it is skipped, and why.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use common::{Data, apart, cuda, moments, splits_apart};
use cudarc::driver::{CudaContext, CudaSlice};
use sarl::engine::Engine;
use sarl::{Error, Moments};
use sarl_cuda::Cuda;

static ONE: Mutex<()> = Mutex::new(());

/// Holds memory where this is set: see `a_process_that_holds_memory`.
const HOLD: &str = "SARL_TEST_HOLD";

/// All memory of the device but so many MiB.
fn fill(but: usize) -> Vec<CudaSlice<u8>> {
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    let mut held = Vec::new();
    for part in [1 << 30, 64 << 20, 1 << 20] {
        while context.mem_get_info().unwrap().0 > (but << 20) + part {
            // SAFETY: the bytes are never read.
            match unsafe { stream.alloc::<u8>(part) } {
                Ok(more) => held.push(more),
                Err(_) => break,
            }
        }
    }
    stream.synchronize().unwrap();
    let (free, total) = context.mem_get_info().unwrap();
    println!("filled: {} of {} MiB are free", free >> 20, total >> 20);
    held
}

fn is_about_memory(error: &Error) -> bool {
    matches!(error, Error::Device { .. }) && error.to_string().contains("out of memory")
}

/// Ends with the test, whatever happens.
struct Holder(Child);

impl Drop for Holder {
    fn drop(&mut self) {
        // It ends when its input does.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_that_holds_memory() {
    if std::env::var_os(HOLD).is_none() {
        return;
    }
    let _held = fill(64);
    println!("holding");
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn memory_that_is_taken_before_the_first_row_is_an_error_or_leaves_it_to_the_processor() {
    if cuda("memory_that_is_taken_before_the_first_row").is_none() {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let wide = Data::new(2000, 400);
    let push = |m: &mut Moments| {
        m.expect(10_000_000);
        m.push(&wide.block(false)).unwrap();
    };
    let here = moments(&wide.layout(), Default::default(), None, push);
    // Between the engine and the first row.
    let mut named = Moments::new(wide.layout(), Default::default()).unwrap();
    named.on(Arc::new(Cuda::new(&[0]).unwrap())).unwrap();
    let mut optional = Moments::new(wide.layout(), Default::default()).unwrap();
    optional.on(Arc::new(Cuda::new(&[0]).unwrap().optional())).unwrap();
    let held = fill(64);
    let error = named.push(&wide.block(false)).unwrap_err();
    println!("named: {error}");
    assert!(is_about_memory(&error), "{error}");
    push(&mut optional);
    optional.settle().unwrap();
    let why = optional.refused().map(str::to_owned);
    println!("optional: {why:?}");
    assert!(why.is_some_and(|why| why.contains("out of memory")));
    assert!(apart(&here.covariances().unwrap(), &optional.covariances().unwrap()) < 1e-13);
    drop(held);
    // What was refused takes rows once there is memory again.
    named.push(&wide.block(false)).unwrap();
    named.settle().unwrap();
    assert!(splits_apart(&here, &named) < 1e-11);
}

#[test]
fn memory_that_is_taken_after_the_first_row_does_not_matter() {
    let Some(cuda) = cuda("memory_that_is_taken_after_the_first_row") else { return };
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = Data::new(6000, 300);
    let push = |m: &mut Moments, (first, rows): (usize, usize)| {
        m.push(&data.block(true).slice(first, rows)).unwrap();
    };
    let here = moments(&data.layout(), Default::default(), None, |m| {
        push(m, (0, 500));
        push(m, (500, 5500));
    });
    let engine: Arc<dyn Engine> = Arc::new(cuda);
    let there = moments(&data.layout(), Default::default(), Some(engine), |m| {
        push(m, (0, 500));
        let held = fill(0);
        // More rows than before: the shift moves too.
        push(m, (500, 5500));
        m.settle().unwrap();
        drop(held);
    });
    let apart = splits_apart(&here, &there);
    println!("{apart:.1e} standard deviations apart");
    assert!(apart < 1e-11);
}

#[test]
fn another_process_that_holds_the_memory_is_named_by_what_is_free() {
    if cuda("another_process_that_holds_the_memory").is_none() {
        return;
    }
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = Data::new(2000, 400);
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["a_process_that_holds_memory", "--exact", "--nocapture"])
        .env(HOLD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut holder = Holder(child);
    let mut lines = BufReader::new(holder.0.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("holding")), "it could not hold memory");
    let mut there = Moments::new(data.layout(), Default::default()).unwrap();
    there.on(Arc::new(Cuda::new(&[0]).unwrap())).unwrap();
    let error = there.push(&data.block(false)).unwrap_err();
    println!("{error}");
    assert!(is_about_memory(&error), "{error}");
    drop(holder);
    there.push(&data.block(false)).unwrap();
    there.settle().unwrap();
    assert_eq!(there.rows(), 2000);
}
