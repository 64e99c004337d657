"""A seventh choice of repositories none of whose kernels had been timed when they were chosen. There are 49; their names
and commits are in unseen7_training.py, unseen7_science.py, unseen7_serving.py and unseen7_attention.py.

Of each repository the `.py` files do; of FlagBLAS and FlagAudio the `.yaml` files below `runtime/backend`, too, and of
aihwkit-lightning `VERSION.txt`. Its folder's name is the first part of its entry in PATHS."""

import torch

from packages import stand_ins, unseen7_attention, unseen7_science, unseen7_serving, unseen7_training

PATHS = [
    "unseen7/" + name
    for name in (
        "anemoi/models/src", "flagsparse/src", "flagblas/src", "flagaudio/src", "gs2d", "intelliperf/examples/triton",
        "flashsnn", "aihwkit/src", "bimamba/src", "triformer", "adamwtriton", "fusedswiglu", "istaopt", "pope",
        "hyperconn", "jvpattn", "biasattn", "approxtopk", "rcm", "annmamba", "linearrnn", "landmark/llama", "dmattn",
        "sparsevllm/src", "nf4/kernel", "chitu", "minivllm/src", "kivi", "palu", "triattention", "bitmat", "litllama",
        "fpquant/inference_lib/src", "fpquant/src/quantization", "onetrainer/modules/util", "gn", "tritonblas/include",
        "ldtriton", "fouroversix/src", "wan2gp", "wan2gp/models/ltx2/ltx_core/model/video_vae", "ffpa/src", "fsa",
        "infllm", "custommask", "longlm", "ringswa", "samfast", "dsfa/openwebtext2-experiments/src/models",
        "zimage/src", "fluxkernels",
    )
]  # fmt: skip


def cases():
    stand_ins.install()
    torch._dynamo.config.disable = True
    torch.compile = lambda function=None, **options: function or (lambda f: f)
    torch.library.custom_op = torch.library.triton_op = stand_ins.plain_operator
    for part in (unseen7_training, unseen7_science, unseen7_serving, unseen7_attention):
        yield from part.cases()
