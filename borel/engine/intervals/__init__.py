"""Outward-rounded arithmetic: numbers, boxes, lanes and jets, and the graphs run on them."""
