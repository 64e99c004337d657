from ..errors import TritonError


class CompilationError(TritonError):
    """tilec refused the program. The text is its message, with the position in the user's file."""

    def __init__(self, src=None, node=None, error_message=None):
        super().__init__(src, node, error_message)
        self.src, self.node = src, node
        self.error_message = self.message = error_message if error_message is not None else str(src)

    def __str__(self):
        return self.error_message


class CompileTimeAssertionFailure(CompilationError):
    pass


class UnsupportedLanguageConstruct(CompilationError):
    pass
