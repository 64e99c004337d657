"""What programs.py compiles by torch.compile: thirty functions, and a training step of a small transformer."""
import math

import torch
from torch.nn import functional as F


def gelu_bias(x, b):
    return F.gelu(x + b)


def silu_gate(x, y):
    return F.silu(x) * y


def rms_norm(x, w):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w


def layer_norm_residual(x, y, w, b):
    return F.layer_norm(x + y, x.shape[-1:], w, b)


def softmax_scaled(x):
    return torch.softmax(x * 0.125, -1)


def log_sum_exp(x):
    return torch.logsumexp(x, -1)


def cross_entropy(x, target):
    return F.cross_entropy(x, target)


def mean_variance(x):
    return torch.var_mean(x, -1)


def column_sums(x):
    return x.sum(0), x.amax(0)


def running_sum(x):
    return torch.cumsum(x, -1)


def argmax_rows(x):
    return x.argmax(-1), x.argmin(-1)


def sort_rows(x):
    return torch.sort(x[:, :256], dim=-1, stable=True)[0]


def clamp_round(x):
    return torch.round(x.clamp(-2, 2) * 16) / 16


def quantised(x):
    scale = x.abs().amax(-1, keepdim=True) / 127 + 1e-6
    return torch.round(x / scale).to(torch.int8), scale


def where_nan(x):
    return torch.nan_to_num(torch.where(x > 1, x / (x - x), x), nan=3.0, posinf=9.0)


def trigonometry(x):
    return x.sin() * x.cos() + torch.tanh(x) - torch.atan2(x, x + 3)


def powers(x):
    return x.abs().sqrt() + x.abs().pow(1.7) + torch.exp(-x * x) + torch.log1p(x.abs())


def special(x):
    return torch.erf(x) + torch.lgamma(x.abs() + 1) + torch.sigmoid(x)


def bits(i):
    return (i << 3 ^ i >> 1) & 0xffff | i % 7


def transposed_add(x, y):
    return x.t().contiguous() + y.t()


def gathered(x, i):
    return x[i] * 2


def scattered(x, i):
    return torch.zeros_like(x).index_add_(0, i, x)


def embedding_sum(w, i):
    return F.embedding(i, w).sum(-1)


def concatenated(x, y):
    return torch.cat((x, y * 2, x - y), -1).roll(5, -1)


def padded_pool(x):
    return F.max_pool1d(F.pad(x.unsqueeze(0), (1, 1)), 3, 2).squeeze(0)


def rotary(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def causal_scores(x, y):
    s = x @ y.t() / math.sqrt(x.shape[-1])
    return torch.softmax(s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), float("-inf")), -1)


def linear_relu(x, w):
    return F.relu(x @ w.t())


def half_products(x, w):
    return (x.half() @ w.half().t()).float() * 0.5


def dropped(x):
    return F.dropout(x, 0.0) + x.std(-1, keepdim=True)


def functions(device, rows, columns):
    """Yields (name, function, arguments)."""
    g = torch.Generator().manual_seed(11)
    x, y = (torch.randn(rows, columns, generator=g).to(device) for _ in range(2))
    w, b = (torch.randn(columns, generator=g).to(device) for _ in range(2))
    i = torch.randint(0, rows, (rows,), generator=g).to(device)
    classes = torch.randint(0, columns, (rows,), generator=g).to(device)
    numbers = torch.randint(0, 1 << 20, (rows, columns), generator=g).to(device)
    table = torch.randn(rows, columns, generator=g).to(device)
    angle = torch.randn(rows, columns // 2, generator=g).to(device)
    arguments = {
        gelu_bias: (x, b), silu_gate: (x, y), rms_norm: (x, w), layer_norm_residual: (x, y, w, b),
        cross_entropy: (x, classes), bits: (numbers,), transposed_add: (x, y), gathered: (x, i), scattered: (x, i),
        embedding_sum: (table, i), concatenated: (x, y), rotary: (x, angle.cos(), angle.sin()), causal_scores: (x, y),
        linear_relu: (x, y), half_products: (x, y)}
    for f in (gelu_bias, silu_gate, rms_norm, layer_norm_residual, softmax_scaled, log_sum_exp, cross_entropy,
              mean_variance, column_sums, running_sum, argmax_rows, sort_rows, clamp_round, quantised, where_nan,
              trigonometry, powers, special, bits, transposed_add, gathered, scattered, embedding_sum, concatenated,
              padded_pool, rotary, causal_scores, linear_relu, half_products, dropped):
        yield f.__name__, f, arguments.get(f, (x,))


class Block(torch.nn.Module):

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) / math.sqrt(c // self.heads)
        mask = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        a = torch.softmax(s.masked_fill(mask, float("-inf")), -1) @ v
        x = x + self.out(a.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(torch.nn.Module):

    def __init__(self, words, width, heads, layers):
        super().__init__()
        self.embedding = torch.nn.Embedding(words, width)
        self.blocks = torch.nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = torch.nn.LayerNorm(width), torch.nn.Linear(width, words)

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


def training_step(device, is_small):
    """Returns (model, step): step(forward) runs forward and backward, and returns the loss and a gradient."""
    torch.manual_seed(5)
    words, width, heads, layers, batch, length = (64, 32, 2, 1, 1, 16) if is_small else (8192, 512, 8, 4, 8, 512)
    model = Transformer(words, width, heads, layers).to(device)
    tokens, targets = torch.randint(0, words, (2, batch, length), device=device)

    def step(forward):
        model.zero_grad(set_to_none=True)
        loss = forward(tokens, targets)
        loss.backward()
        return loss.detach(), model.blocks[0].qkv.weight.grad.detach().clone()

    return model, step
