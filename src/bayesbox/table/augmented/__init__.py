"""TAN, KDB and AODE: columns that depend on the class and on a few other columns."""
