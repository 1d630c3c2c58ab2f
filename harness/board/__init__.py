"""Boards: ranked tables of submissions, made from records and reference data; `scoring` computes the scores."""

#: Keys of the columns, one for each task, that a board shows only on request (`--columns`).
ON_REQUEST = (
    "chance", "p_value", "printed", "kendall", "granulated_kendall", "sign_error", "robust_sign_error",
)  # fmt: skip
