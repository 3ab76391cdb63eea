"""The work behind what a chain answers: the forward table, the trellis of Viterbi, one round of Baum-Welch."""
