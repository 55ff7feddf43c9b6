"""The colours of plots: they stay apart for the colour-blind and in grey (Okabe and Ito)."""

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#595959"
GREEN, PURPLE = "#009E73", "#CC79A7"
