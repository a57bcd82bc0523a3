"""The mathematics of 《算给你看：Transformer》, in NumPy and the standard library alone.

One idea a file, each importing only from those before it:
ops → attention → transformer (what a Transformer computes) · facts → counting → specs (what published ones measure).

One legend of names holds everywhere: d_model n_heads d_head d_ff n_layers vocab_size seq_len; W_Q W_K W_V W_O W_1 W_2;
q k v scores weights logits probs. Vectors are rows, y = x @ W + b. `...` in a shape is any batch shape.
Masks are boolean, True = may attend. float64, and float32 where it is given. Counts are Python integers.
"""
