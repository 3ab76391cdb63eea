# Fits e1071's naiveBayes and asks for probabilities a few times: prints the seconds of each round.
suppressMessages(library(e1071))
arguments <- commandArgs(trailingOnly = TRUE)
rows <- read.csv(arguments[1])
rows$y <- factor(rows$y)
inputs <- rows[, names(rows) != "y"]
for (round in seq_len(as.integer(arguments[2]))) {
  fit <- system.time(model <- naiveBayes(inputs, rows$y))
  ask <- system.time(answers <- predict(model, inputs, type = "raw"))
  cat(fit[["user.self"]] + fit[["sys.self"]], ask[["user.self"]] + ask[["sys.self"]], "\n")
}
write.table(answers, arguments[3], sep = ",", row.names = FALSE, col.names = FALSE)
