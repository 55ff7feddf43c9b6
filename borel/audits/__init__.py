"""Studies, their audits, and what is kept, tabulated, plotted and verified of them."""
