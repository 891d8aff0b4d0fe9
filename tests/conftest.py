"""The same examples every time: new ones are what ``make fuzz`` is for."""

from hypothesis import settings

settings.register_profile("tests", derandomize=True, database=None)
settings.load_profile("tests")
