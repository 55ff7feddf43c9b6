"""Search and quadrature in float64: estimates, no enclosures."""
