from ....language.extra import libdevice   # noqa: F401
