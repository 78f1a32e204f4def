//! Draws one figure of each kind into a folder:
//!
//! ```text
//! cargo run --release -p sarl-report --example gallery -- FOLDER
//! ```

mod figures;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: gallery FOLDER")?;
    let folder = std::path::PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for figure in figures::all() {
        for (name, bytes) in figure.files()? {
            std::fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}
