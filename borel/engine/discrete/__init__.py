"""The exact engines: finite alphabets, countable ones, and events of them."""
