from ..errors import TritonError


class InterpreterError(TritonError):
    pass


class PTXASError(TritonError):
    pass


class AutotunerError(TritonError):

    def __init__(self, message=""):
        super().__init__(message)
        self.message = message

    def __str__(self):
        return f"Autotuner error: {self.message}"


class OutOfResources(TritonError):

    def __init__(self, required=0, limit=0, name="", text=None):
        super().__init__(text or f"out of resource: {name}, Required: {required}, Hardware limit: {limit}. "
                         "Reducing block sizes or `num_stages` may help.")
        self.required, self.limit, self.name, self.text = required, limit, name, text

    def __reduce__(self):
        return type(self), (self.required, self.limit, self.name, self.text)
