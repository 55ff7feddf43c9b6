"""The certified engine: continuous secrets and outcomes, with proofs."""
