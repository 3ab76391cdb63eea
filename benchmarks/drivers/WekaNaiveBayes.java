import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import weka.classifiers.bayes.NaiveBayes;
import weka.core.Instances;

/** Fits and asks Weka's NaiveBayes in turn, a few rounds in one virtual machine: prints the CPU seconds of each. */
class WekaNaiveBayes {
    public static void main(String[] arguments) throws Exception {
        Instances rows = new Instances(new BufferedReader(new FileReader(arguments[0])));
        rows.setClassIndex(rows.numAttributes() - 1);
        int rounds = Integer.parseInt(arguments[1]);
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        double[][] answers = new double[rows.numInstances()][];
        for (int round = 0; round < rounds; round++) {
            NaiveBayes model = new NaiveBayes();
            long start = clock.getCurrentThreadCpuTime();
            model.buildClassifier(rows);
            long fitted = clock.getCurrentThreadCpuTime();
            for (int row = 0; row < rows.numInstances(); row++) {
                answers[row] = model.distributionForInstance(rows.instance(row));
            }
            long asked = clock.getCurrentThreadCpuTime();
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
