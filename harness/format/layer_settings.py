"""The layers that a model may have, and the settings of each layer that a measure sees.

A measure sees the settings that decide the computation of a trained layer. In the worker, all other settings have
Keras' defaults, because they would reveal the training.
"""

from typing import Any

_CONVOLUTION = (
    "activation", "data_format", "dilation_rate", "filters", "kernel_size", "padding", "strides", "use_bias",
)  # fmt: skip
_DEPTHWISE = (*(name for name in _CONVOLUTION if name != "filters"), "depth_multiplier")
_POOLING = ("data_format", "padding", "pool_size", "strides")
_NORMALIZATION = ("axis", "center", "epsilon", "scale")

_OF_EACH_DIMENSION: dict[str, tuple[str, ...]] = {
    "AveragePooling{}D": _POOLING,
    "Conv{}D": (*_CONVOLUTION, "groups"),
    "Conv{}DTranspose": (*_CONVOLUTION, "output_padding"),
    "GlobalAveragePooling{}D": ("data_format", "keepdims"),
    "GlobalMaxPooling{}D": ("data_format", "keepdims"),
    "MaxPooling{}D": _POOLING,
    "ZeroPadding{}D": ("data_format", "padding"),
}

#: Name of a layer without user code that computes the same in Keras 2 and Keras 3 -> settings that decide the
#: computation of the trained layer.
SUPPORTED: dict[str, tuple[str, ...]] = {
    "Activation": ("activation",),
    "Add": (),
    "Average": (),
    "BatchNormalization": _NORMALIZATION,
    "Concatenate": ("axis",),
    "Cropping1D": ("cropping",),
    "Cropping2D": ("cropping", "data_format"),
    "Cropping3D": ("cropping", "data_format"),
    "Dense": ("activation", "units", "use_bias"),
    "DepthwiseConv1D": _DEPTHWISE,
    "DepthwiseConv2D": _DEPTHWISE,
    "ELU": ("alpha",),
    "EinsumDense": ("activation", "bias_axes", "equation", "output_shape"),
    "Embedding": ("input_dim", "mask_zero", "output_dim"),
    "Flatten": ("data_format",),
    "GroupNormalization": (*_NORMALIZATION, "groups"),
    "Identity": (),
    "LayerNormalization": (*_NORMALIZATION, "rms_scaling"),
    "LeakyReLU": ("alpha", "negative_slope"),
    "Maximum": (),
    "Minimum": (),
    "MultiHeadAttention": (
        "attention_axes", "key_dim", "num_heads", "output_shape", "sliding_window", "use_bias", "use_gate", "value_dim",
    ),
    "Multiply": (),
    "PReLU": ("shared_axes",),
    "Permute": ("dims",),
    "ReLU": ("max_value", "negative_slope", "threshold"),
    "RepeatVector": ("n",),
    "Rescaling": ("offset", "scale"),
    "Reshape": ("target_shape",),
    "SeparableConv1D": (*_CONVOLUTION, "depth_multiplier"),
    "SeparableConv2D": (*_CONVOLUTION, "depth_multiplier"),
    "Softmax": ("axis",),
    "Subtract": (),
    "UnitNormalization": ("axis",),
    "UpSampling1D": ("size",),
    "UpSampling2D": ("data_format", "interpolation", "size"),
    "UpSampling3D": ("data_format", "size"),
    **{name.format(n): settings for name, settings in _OF_EACH_DIMENSION.items() for n in (1, 2, 3)},
}  # fmt: skip

#: Name of a layer without effect after training -> settings that replace the model's own, which may be hyperparameters.
#: With these settings, the layer has no effect in training either. Only layers that augment images keep an effect; the
#: worker disables these layers.
TRAINING_ONLY: dict[str, dict[str, Any]] = {
    "ActivityRegularization": {},
    "AlphaDropout": {"rate": 0},
    "Dropout": {"rate": 0},
    "GaussianDropout": {"rate": 0},
    "GaussianNoise": {"stddev": 0},
    "RandomBrightness": {"factor": 0.1},
    "RandomContrast": {"factor": 0.1},
    "RandomFlip": {},
    "RandomRotation": {"factor": 0.1},
    "RandomTranslation": {"height_factor": 0.1, "width_factor": 0.1},
    "RandomZoom": {"height_factor": 0.1},
    "SpatialDropout1D": {"rate": 0},
    "SpatialDropout2D": {"rate": 0},
    "SpatialDropout3D": {"rate": 0},
}

#: Settings that measures do not see, of any layer: names, settings of training, copies of the input's shape, and the
#: type, which must be float32.
_LEFT_OUT = {
    "autocast", "batch_input_shape", "batch_size", "build_config", "dtype", "dynamic", "input_dim", "input_shape",
    "name", "trainable",
}  # fmt: skip
_LEFT_OUT_ENDINGS = ("_initializer", "_regularizer", "_constraint")

#: Rank and scale of a low-rank update (LoRA). The kernel in a `.keras` file already includes the update.
_LORA = {"lora_alpha", "lora_rank"}

#: Name of a layer -> its further settings that measures do not see: training, initial weights, speed, shapes.
LEFT_OUT_OF: dict[str, set[str]] = {
    "BatchNormalization": {"momentum", "renorm_clipping", "renorm_momentum", "synchronized"},
    "Dense": _LORA,
    "EinsumDense": _LORA,
    "Embedding": {*_LORA, "input_length", "weights"},
    "MultiHeadAttention": {"dropout", "flash_attention", "key_shape", "query_shape", "seed", "value_shape"},
}

#: Settings that some layers have only in one version of Keras -> value without effect. Other values are refused unless
#: `SUPPORTED` has the setting, because the other version of Keras cannot compute the same.
MEANINGLESS: dict[str, Any] = {
    "gptq_unpacked_column_size": None, "groups": 1, "mask_zero": False, "quantization_config": None, "renorm": False,
    "rms_scaling": False, "robust_masking": False, "softmax_robust_masking": False, "sparse": False, "use_gate": False,
}  # fmt: skip


def is_without_effect(class_name: str, setting: str, value: object) -> bool:
    """Whether a layer computes the same with and without this setting, in both versions of Keras."""
    has_groups = class_name == "GroupNormalization" and setting == "groups"  # without the setting: 32 groups, not 1
    return setting in MEANINGLESS and value == MEANINGLESS[setting] and not has_groups


def is_left_out(class_name: str, setting: str) -> bool:
    """Whether a setting of a layer is hidden from measures."""
    if setting in SUPPORTED[class_name]:
        return False
    return setting in _LEFT_OUT | LEFT_OUT_OF.get(class_name, set()) or setting.endswith(_LEFT_OUT_ENDINGS)
