"""Boards: ranked tables of submissions, made from recorded calls and reference data."""

#: Keys of the columns that a board shows for each task on request (`--columns`).
ON_REQUEST = (
    "chance", "p_value", "printed", "kendall", "granulated_kendall", "sign_error", "robust_sign_error",
)  # fmt: skip
