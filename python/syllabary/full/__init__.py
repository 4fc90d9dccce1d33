"""Full encodings: what a model wants to know of a text beside the ids, for one text or for many.

`batch` has `EncodingBatch`, which is `syllabary.EncodingBatch`; `rows` has the engine make its rows, as
`layout` and the `plan` of a framing say. Leaves out: the methods of `Tokenizer` (`tokenizer_full`), the
records of framing (`syllabary.framing`), and what all of it means (`reference.full`).
"""
