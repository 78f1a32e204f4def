//! One file for each command.

pub mod audit;
pub mod bounds;
pub mod certified;
pub mod certify;
pub mod compare;
pub mod data;
pub mod demo;
pub mod encode;
mod erasures;
pub mod fit;
pub mod front;
pub mod info;
pub mod inspect;
pub mod layers;
pub mod moments;
pub mod reproduce;
pub mod retune;
pub mod shell;
