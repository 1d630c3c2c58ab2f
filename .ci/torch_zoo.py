"""Tries to translate the architectures of torchvision and timm, and prints docs/torch-zoo.md.

`torch_zoo.py NAME ...` tries only the architectures with these names.
Weights and statistics of normalization are random, images are small. `make torch-zoo` puts both libraries on the path.
"""

import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from harness.errors import UserError
from harness.processes import NoAnswerError, Process
from harness.torch_import.check import OutputComparison
from harness.torch_import.export import Exporter
from harness.torch_import.pt2 import read_pt2
from harness.torch_import.translate import translate
from harness.worker.runtimes import RUNTIMES

#: Maximum number of weights. Larger networks are left out, since they have the operations of smaller networks.
MOST_WEIGHTS = 140_000_000

EXAMPLES, CLASSES = 64, 10

#: The smallest architecture of each family in timm, or of each variant that differs in more than its size.
TIMM = [
    "bat_resnext26ts", "beit_base_patch16_224", "botnet26t_256", "cait_xxs24_224", "caformer_s18",
    "coat_lite_tiny", "coatnet_nano_rw_224", "convformer_s18", "convit_tiny", "convmixer_768_32",
    "convnext_atto", "convnextv2_atto", "crossvit_tiny_240", "cspdarknet53", "cspresnet50", "davit_tiny",
    "deit3_small_patch16_224", "deit_tiny_patch16_224", "densenet121", "dla34", "dm_nfnet_f0", "dpn68",
    "eca_resnet33ts", "edgenext_xx_small", "efficientformer_l1", "efficientnet_b0", "efficientnet_lite0",
    "efficientvit_b0", "ese_vovnet19b_dw", "fastvit_t8", "fbnetc_100", "focalnet_tiny_srf", "gernet_s",
    "ghostnet_100", "gmixer_12_224", "gmlp_ti16_224", "hardcorenas_a", "hgnet_tiny", "hrnet_w18_small",
    "inception_resnet_v2", "inception_v4", "lcnet_050", "legacy_seresnet18", "levit_128s",
    "maxvit_rmlp_pico_rw_256", "mixer_s32_224", "mixnet_s", "mnasnet_small", "mobilenetv1_100",
    "mobilenetv3_small_050", "mobilenetv4_conv_small", "mobileone_s0", "mobilevit_xxs", "mobilevitv2_050",
    "nextvit_small", "nf_resnet26", "pit_ti_224", "poolformer_s12", "pvt_v2_b0", "regnetx_002", "regnety_002",
    "repghostnet_050", "repvgg_a0", "res2net50_14w_8s", "resmlp_12_224", "resnest14d", "resnet10t",
    "resnetv2_50", "rexnet_100", "selecsls42", "semnasnet_050", "sequencer2d_s", "skresnet18", "spnasnet_100",
    "swin_tiny_patch4_window7_224", "swinv2_cr_tiny_224", "swinv2_tiny_window8_256", "tf_efficientnetv2_b0",
    "tiny_vit_5m_224", "tinynet_e", "tnt_s_legacy_patch16_224", "tresnet_m", "twins_svt_small", "vgg11_bn",
    "visformer_tiny", "vit_tiny_patch16_224", "volo_d1_224", "vovnet39a", "xception41", "xcit_nano_12_p16_224",
]  # fmt: skip


@dataclass
class Row:
    """The result for an architecture."""

    name: str  #: library and name, separated by a space
    refused: str = ""  #: reason why the architecture is not translated; empty if it is translated or left out
    difference: float | None = None  #: largest difference of the outputs, as a share of their range


def libraries() -> tuple[Any, Any]:
    """Return the modules `torchvision.models` and `timm`; first declare operators that torchvision's wheel lacks."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    libraries.kept = library  # type: ignore[attr-defined]
    import timm
    import torchvision.models

    return torchvision.models, timm


def architectures() -> Iterator[tuple[str, Any, int]]:
    """Yield (name, function that makes a network, side of its images in pixels) for each architecture."""
    torchvision, timm = libraries()
    for name in torchvision.list_models(module=torchvision):
        side = {"inception_v3": 96, "maxvit_t": 224}.get(name, 32 if name.startswith("vgg") else 64)
        settings: dict[str, Any] = {"image_size": side} if name.startswith("vit_") else {}
        settings |= {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
        yield (f"torchvision {name}",
               lambda name=name, more=settings: torchvision.get_model(name, weights=None, num_classes=CLASSES, **more),
               side)  # fmt: skip
    for name in TIMM:
        yield f"timm {name}", lambda name=name: timm.create_model(name, num_classes=CLASSES), side_of(timm, name)


def side_of(timm: Any, name: str) -> int:
    """Return the side in pixels of the images for a network of timm: its fixed side, or else 96."""
    config = timm.get_pretrained_cfg(name)
    fixed = getattr(config, "fixed_input_size", False) if config else False
    return int(config.input_size[-1]) if fixed else 96


def as_if_trained(module: nn.Module) -> nn.Module:
    """Give a module random moving statistics, and random weights in place of constant weights."""
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.running_mean is not None:
                part.running_mean.normal_(0, 0.1)
                part.running_var.uniform_(0.5, 2)
        for parameter in module.parameters():
            if parameter.numel() > 1 and parameter.std() == 0:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return module.eval()


def attempt(name: str, make: Any, side: int, process: Process) -> Row:
    """Export a network of an architecture, translate it, and compare the outputs."""
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as directory, OutputComparison(process) as comparison:
        place = Path(directory)
        try:
            module = as_if_trained(make())
            if sum(parameter.numel() for parameter in module.parameters()) > MOST_WEIGHTS:
                return Row(name)
            inputs = torch.randn(EXAMPLES, 3, side, side).numpy()
            exporter = Exporter(module, "model", lambda _: None)
            expected = exporter.outputs(inputs)
            exporter.write(place / "model", inputs)
            model = translate(read_pt2(place / "model")).model
            model.write_canonical(place / "canonical", "weights.npz")
            last = np.moveaxis(inputs, 1, -1)
            difference = comparison.require_same(place / "model", place / "canonical", last, expected)
        except (UserError, NoAnswerError) as error:
            reason = str(error).replace(f"{place}/", "").partition("; pgdl help")[0]
            reason = "the outputs of the translation differ" if "first differs" in reason else reason
            return Row(name, reason.rpartition("found ")[2])
    return Row(name, difference=difference)


def main() -> None:
    """Print docs/torch-zoo.md."""
    wanted = sys.argv[1:]
    rows = []
    with Process("harness.processes.accuracies", RUNTIMES["tensorflow"], own_data=True) as process:
        for name, make, side in architectures():
            if not wanted or name in wanted or name.split()[0] in wanted:
                rows.append(attempt(name, make, side, process))
                print(rows[-1], file=sys.stderr, flush=True)
    print(page(rows), end="")


def page(rows: list[Row]) -> str:
    """Return the text of docs/torch-zoo.md."""
    translated = [row for row in rows if row.difference is not None]
    refused = [row for row in rows if row.refused]
    return PAGE.format(
        n=len(translated),
        tried=len(translated) + len(refused),
        torch=torch.__version__,
        difference=f"{max((row.difference or 0.0 for row in translated), default=0.0):.0e}",
        translated="\n\n".join(_names(translated, library) for library in ("torchvision", "timm")),
        refused="\n\n".join(_names(refused, library) for library in ("torchvision", "timm")),
    )


def _names(rows: list[Row], library: str) -> str:
    names = [f"`{row.name.partition(' ')[2]}`" for row in rows if row.name.startswith(f"{library} ")]
    return textwrap.fill(f"**{library}**: {', '.join(names)}.", 120, break_long_words=False, break_on_hyphens=False)


PAGE = """\
# Which architectures of PyTorch are translated

[`pgdl.import_torch`](your-own-models.md#a-pytorch-user) translates networks of PyTorch into Keras. The translation was
tried on torchvision's architectures for classification, and on the smallest of each family in timm:

```sh
make torch-zoo        # tries them with random weights and small images, and prints this page
```

{n} of {tried} were translated (PyTorch {torch}). On 64 images, the outputs of a translation differ from PyTorch's by at
most {difference} of their range:

{translated}

These were refused; the import and `make torch-zoo` name the reason:

{refused}
"""


if __name__ == "__main__":
    main()
