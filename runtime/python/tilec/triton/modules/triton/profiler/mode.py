"""How Proton would measure."""
from dataclasses import dataclass


@dataclass(frozen=True)
class BaseMode:
    name: str


@dataclass(frozen=True)
class PCSampling(BaseMode):
    name: str = "pcsampling"
    interval: int = 1000


@dataclass(frozen=True)
class InstrumentationMode(BaseMode):
    metric_type: str = "cycle"
    sampling_strategy: str = "none"
    sampling_options: str = ""
    granularity: str = "warp"
    buffer_strategy: str = "circular"
    buffer_type: str = "shared"
    buffer_size: int = 0
    optimizations: str = ""


@dataclass(frozen=True)
class Default(InstrumentationMode):
    name: str = "default"


@dataclass(frozen=True)
class MMA(InstrumentationMode):
    name: str = "mma"
