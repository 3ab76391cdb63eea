"""Tallies: exact statistics that can be added, subtracted and compared. One statistic per file."""
