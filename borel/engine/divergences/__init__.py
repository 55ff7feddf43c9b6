"""What two laws differ by: f-divergences, Renyi divergences, hockey-sticks and loss events."""
