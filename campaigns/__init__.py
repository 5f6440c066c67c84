"""Campaigns against the library: strange inputs (``fuzz``) and killed processes (``chaos``)."""
