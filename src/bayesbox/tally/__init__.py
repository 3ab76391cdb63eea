"""What was counted: exact statistics that can be added, subtracted and compared. One statistic a file."""
