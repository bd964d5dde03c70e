"""One NVIDIA GPU through CuPy, for the studies whose cost is sampling."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.resources import files
from typing import Any

from steadyrank.errors import MachineError


@cache
def cupy() -> Any:
    """The module cupy, if it is installed and sees a device."""
    try:
        module = importlib.import_module("cupy")
    except ImportError:
        raise MachineError(
            "device cuda requires the package CuPy: pip install 'steadyrank[gpu]'"
        ) from None
    try:
        count = module.cuda.runtime.getDeviceCount()
    except Exception as error:
        raise MachineError(f"device cuda: the GPU cannot be used: {error}") from None
    if count < 1:
        raise MachineError("device cuda: no GPU was found: use device cpu")
    return module


@cache
def gpu_kernels(package: str, name: str, *options: str) -> Any:
    """The kernels of a CUDA source file inside a package, compiled for this device."""
    source = files(package).joinpath(name).read_text("utf-8")
    return cupy().RawModule(code=source, options=("--std=c++14", *options))
