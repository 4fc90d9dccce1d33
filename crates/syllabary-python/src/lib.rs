//! The Python binding: converts arguments, releases the GIL, maps errors. No algorithm, no policy.
//!
//! What each method promises is written in `python/syllabary/_engine.pyi`.

mod convert;
mod errors;
mod files;
mod huggingface;
mod ids;
mod lists;
mod parity;
mod sentencepiece;
mod split;
mod steps;
mod tokenizer;
mod trainer;
mod windows;

use numpy::IntoPyArray;
use pyo3::prelude::*;

/// `syllabary._engine`
#[pymodule(gil_used = false)]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // The first array looks numpy up; a Ctrl-C that falls into that look-up would be a panic.
    drop(Vec::<u32>::new().into_pyarray(module.py()));
    module.add_class::<huggingface::HuggingFaceTrainer>()?;
    module.add_class::<ids::IdMerges>()?;
    module.add_class::<parity::ParityTrainer>()?;
    module.add_class::<sentencepiece::SentencePieceTrainer>()?;
    module.add_class::<split::Split>()?;
    module.add_class::<steps::Normalizer>()?;
    module.add_class::<steps::Pretokenizer>()?;
    module.add_class::<steps::StepDecoder>()?;
    module.add_class::<tokenizer::Tokenizer>()?;
    module.add_class::<trainer::Trainer>()?;
    module.add_class::<trainer::Merging>()?;
    Ok(())
}
