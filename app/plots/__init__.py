"""Plots: the maths apart (geometry), the drawing on widgets."""
