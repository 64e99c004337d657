"""Stands for Triton's package where tests only ask whose it is."""
__version__ = "0"
