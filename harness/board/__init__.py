"""Turns records and reference data into scores and boards; all computation is in `scoring`."""

#: Columns of each task that a board shows on request, by key.
ON_REQUEST = (
    "chance", "p_value", "printed", "kendall", "granulated_kendall", "sign_error", "robust_sign_error",
)  # fmt: skip
