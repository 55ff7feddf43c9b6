"""Taylor coefficients of first and second order, as intervals."""
