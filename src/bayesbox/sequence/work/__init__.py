"""The calculations of a chain: the forward table, the Viterbi trellis, one round of Baum-Welch."""
