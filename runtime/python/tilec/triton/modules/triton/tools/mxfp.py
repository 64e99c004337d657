"""Tensors of the microscaling formats: elements of 4 bits (E2M1) and scales of 8 (E8M0)."""
import torch

_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)   # of the codes 0 to 7; the next bit is the sign


class _Coded:
    """Codes in `data`, made from floats or, by random(), of a size."""

    def __init__(self, data=None, size=None, device=None):
        if data is None and size is None:
            raise ValueError("Either parameter data or size must be provided")
        if data is not None:
            assert isinstance(data, torch.Tensor), "Parameter data must be a torch tensor"
            self.device, self.data = data.device, self._from_float(data)
        else:
            self.device, self.size = device, size if isinstance(size, tuple) else (size,)

    def _draw(self, low, high):
        self.data = torch.randint(low, high + 1, size=self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype):
        assert dtype == torch.float32, f"only to float32, not to {dtype}"
        return self._floats()


class MXFP4Tensor(_Coded):
    """E2M1, one code in a byte. Rounds to nearest, ties to even; numbers out of range, infinities and NaN become 6."""

    def random(self):
        return self._draw(0, 15)

    def _floats(self):
        table = torch.tensor([*_MAGNITUDES, *(-m for m in _MAGNITUDES)], device=self.data.device)
        return table[self.data.long()]

    def _from_float(self, values):
        middles = torch.tensor([(a + b) / 2 for a, b in zip(_MAGNITUDES, _MAGNITUDES[1:])], device=values.device)
        size = torch.nan_to_num(values.abs().float(), nan=6.0, posinf=6.0).contiguous()
        below, above = torch.bucketize(size, middles), torch.bucketize(size, middles, right=True)
        code = torch.where(below % 2 == 0, below, above)   # they differ on a tie; one of them is even
        return (code + 8 * torch.signbit(values)).to(torch.uint8)

    def to_packed_tensor(self, dim):
        """Packs neighbours along an axis into one byte, the first in the low half."""
        assert 0 <= dim < self.data.ndim, f"axis {dim} is outside a tensor of rank {self.data.ndim}"
        even = self.data[(slice(None),) * dim + (slice(0, None, 2),)]
        odd = self.data[(slice(None),) * dim + (slice(1, None, 2),)]
        high = torch.zeros_like(even)
        high.narrow(dim, 0, odd.shape[dim]).copy_(odd)
        return high << 4 | even

    def unpack_packed_tensor(self, packed_tensor, dim, original_shape):
        both = torch.stack((packed_tensor & 15, packed_tensor >> 4 & 15), dim=dim + 1).flatten(dim, dim + 1)
        return both.narrow(dim, 0, original_shape[dim]).to(torch.uint8)


class MXScaleTensor(_Coded):
    """E8M0: powers of two, rounded down; 255 is NaN, which zero, negative and infinite numbers become."""

    def random(self, low=None, high=None):
        def exponent(value):
            return int(torch.log2(torch.tensor(float(value)))) + 127

        first = 0 if low is None else max(0, exponent(low))
        last = 254 if high is None else min(254, max(0, exponent(high)))
        assert first <= last, "Low must be less than or equal to high"
        return self._draw(first, last)

    def _floats(self):
        powers = torch.ldexp(torch.ones_like(self.data, dtype=torch.float32), self.data.int() - 127)
        return torch.where(self.data == 255, torch.nan, powers)

    def _from_float(self, values):
        is_number = torch.isfinite(values) & (values > 0)
        exponent = torch.frexp(torch.where(is_number, values, 1.0))[1] - 1
        return torch.where(is_number, (exponent + 127).clamp(0, 254), 255).to(torch.uint8)
