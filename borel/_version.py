"""The version of borel, apart, so that modules can say it without importing the package's names."""

__version__ = "0.1.0"
