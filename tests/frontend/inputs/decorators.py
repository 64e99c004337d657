# A decorator that the evaluator cannot run: the function stays what it is.
def remember(fn):
  return {}.no_such_method(fn)
