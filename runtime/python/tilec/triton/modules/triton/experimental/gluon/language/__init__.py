from ._core import *   # noqa: F401,F403
from ._core import _unwrap_if_constexpr, must_use_result, tuple   # noqa: F401
from ._layouts import (AutoLayout, BlockedLayout, CoalescedLayout, DistributedLayout,   # noqa: F401
                       DistributedLinearLayout, DotOperandLayout, NVMMADistributedLayout, NVMMASharedLayout,
                       PaddedSharedLayout, SharedLayout, SharedLinearLayout, SliceLayout, SwizzledSharedLayout)
from . import amd, extra, nvidia   # noqa: F401
