//! `cargo xtask soak`
use anyhow::Result;
pub(crate) fn soak(_: &[String]) -> Result<()> {
    Ok(())
}
