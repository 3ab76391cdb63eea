import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintWriter;
import weka.classifiers.bayes.NaiveBayes;
import weka.core.Instances;

/** Fits and asks Weka's NaiveBayes in turn, a few rounds in one virtual machine: prints seconds of each round. */
class WekaNaiveBayes {
    public static void main(String[] arguments) throws Exception {
        Instances rows = new Instances(new BufferedReader(new FileReader(arguments[0])));
        rows.setClassIndex(rows.numAttributes() - 1);
        int rounds = Integer.parseInt(arguments[1]);
        double[][] answers = new double[rows.numInstances()][];
        for (int round = 0; round < rounds; round++) {
            NaiveBayes model = new NaiveBayes();
            long start = System.nanoTime();
            model.buildClassifier(rows);
            long fitted = System.nanoTime();
            for (int row = 0; row < rows.numInstances(); row++) {
                answers[row] = model.distributionForInstance(rows.instance(row));
            }
            long asked = System.nanoTime();
            System.out.println((fitted - start) / 1e9 + " " + (asked - fitted) / 1e9);
        }
        try (PrintWriter out = new PrintWriter(arguments[2])) {
            for (double[] answer : answers) {
                StringBuilder line = new StringBuilder();
                for (double share : answer) {
                    line.append(line.length() == 0 ? "" : ",").append(share);
                }
                out.println(line);
            }
        }
    }
}
