"""Drawings of directed graphs: the layout as data, SVG, and the DOT language."""
