"""`bayes app`: files that were named are opened, and a page on this machine shows them."""
