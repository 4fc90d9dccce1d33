"""Text that comes in parts, grows, or is too long: what the methods of `Tokenizer` for it do.

`incremental` encodes and counts parts with the ids of the whole, `fitting` finds how much of a text has at
most so many tokens, `chunking` cuts at good places, of which `clusters` are the smallest. Leaves out: the
methods (`text_methods`), and where text can be cut (`reference.cuts`).
"""
