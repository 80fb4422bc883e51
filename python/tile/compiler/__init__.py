"""From a kernel's source to its binary, in stages."""

from .compiler import ASTSource, CompiledKernel, IRSource, LazyDict, compile, make_backend
from .errors import (
    CompilationError,
    CompileTimeAssertionFailure,
    LaunchError,
    UnsupportedLanguageConstruct,
)

__all__ = [
    "ASTSource", "CompilationError", "CompileTimeAssertionFailure", "CompiledKernel", "IRSource",
    "LaunchError", "LazyDict", "UnsupportedLanguageConstruct", "compile", "make_backend",
]  # fmt: skip
