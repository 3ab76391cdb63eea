"""Pictures of directed graphs: the layout as data, the drawing of it as SVG; the graph in the DOT language."""
