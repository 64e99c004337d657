class DriverBase:

    @classmethod
    def is_active(cls):
        return True
