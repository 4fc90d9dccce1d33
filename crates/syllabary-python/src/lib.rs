//! The Python binding: converts arguments, releases the GIL, maps errors. No algorithm, no policy.
//!
//! What each method promises is written in `python/syllabary/_engine.pyi`.

mod calls;
mod convert;
mod decode;
mod errors;
mod files;
mod full;
mod huggingface;
mod ids;
mod json;
mod json_own;
mod keeper;
mod layout;
mod learned;
mod listed;
mod lists;
mod model_pieces;
mod new_strings;
mod pages;
mod pairs;
mod parity;
mod pieces;
mod ranks;
mod sentencepiece;
mod signals;
mod split;
mod steps;
mod strings;
mod texts;
mod tokenizer;
mod trainer;
mod unigram;
mod windows;

use numpy::IntoPyArray;
use pyo3::prelude::*;

/// Python gives objects memory aligned to 16 bytes: what asks for more must stand in a box.
const _: () = {
    assert!(align_of::<calls::Calls>() <= 16);
    assert!(align_of::<full::FullRows>() <= 16);
    assert!(align_of::<huggingface::HuggingFaceTrainer>() <= 16);
    assert!(align_of::<ids::IdMerges>() <= 16);
    assert!(align_of::<learned::Learned>() <= 16);
    assert!(align_of::<listed::Listed>() <= 16);
    assert!(align_of::<parity::ParityTrainer>() <= 16);
    assert!(align_of::<ranks::Ranks>() <= 16);
    assert!(align_of::<sentencepiece::SentencePieceTrainer>() <= 16);
    assert!(align_of::<split::Split>() <= 16);
    assert!(align_of::<steps::Normalizer>() <= 16);
    assert!(align_of::<steps::Pretokenizer>() <= 16);
    assert!(align_of::<steps::StepDecoder>() <= 16);
    assert!(align_of::<tokenizer::Tokenizer>() <= 16);
    assert!(align_of::<trainer::Trainer>() <= 16);
    assert!(align_of::<trainer::Merging>() <= 16);
};

/// `syllabary._engine`
#[pymodule(gil_used = false)]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // The first array looks numpy up; a Ctrl-C that falls into that look-up would be a panic.
    drop(Vec::<u32>::new().into_pyarray(module.py()));
    module.add("Calls", module.py().get_type::<calls::Calls>())?;
    module.add_class::<full::FullRows>()?;
    module.add_class::<huggingface::HuggingFaceTrainer>()?;
    module.add_class::<ids::IdMerges>()?;
    module.add_class::<learned::Learned>()?;
    module.add_class::<listed::Listed>()?;
    module.add_class::<parity::ParityTrainer>()?;
    module.add_class::<ranks::Ranks>()?;
    module.add_class::<sentencepiece::SentencePieceTrainer>()?;
    module.add_class::<split::Split>()?;
    module.add_class::<steps::Normalizer>()?;
    module.add_class::<steps::Pretokenizer>()?;
    module.add_class::<steps::StepDecoder>()?;
    module.add_class::<tokenizer::Tokenizer>()?;
    module.add_class::<trainer::Trainer>()?;
    module.add_class::<trainer::Merging>()?;
    module.add_function(wrap_pyfunction!(listed::read_own, module)?)?;
    module.add_function(wrap_pyfunction!(listed::read_scored, module)?)?;
    module.add_function(wrap_pyfunction!(model_pieces::plain_pieces, module)?)?;
    module.add_function(wrap_pyfunction!(pages::make_ready, module)?)?;
    module.add_function(wrap_pyfunction!(pairs::pairs, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::recover_merges, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::sha256, module)?)?;
    module.add_function(wrap_pyfunction!(unigram::learn_unigram_of, module)?)?;
    Ok(())
}
