import java.io.BufferedReader;
import java.io.FileReader;
import java.util.Random;
import weka.classifiers.Evaluation;
import weka.classifiers.bayes.NaiveBayes;
import weka.core.Instances;
import weka.filters.Filter;
import weka.filters.supervised.attribute.Discretize;

/** Cross-validates (or, given a second file, trains and tests) Weka's NaiveBayes with its three treatments of numbers, and prints the cuts of its Discretize. */
class WekaDensities {
    public static void main(String[] arguments) throws Exception {
        Instances rows = new Instances(new BufferedReader(new FileReader(arguments[0])));
        rows.setClassIndex(rows.numAttributes() - 1);
        int repeats = Integer.parseInt(arguments[1]);
        Instances held = null;
        if (arguments.length > 2) {
            held = new Instances(new BufferedReader(new FileReader(arguments[2])));
            held.setClassIndex(held.numAttributes() - 1);
        }
        String[] names = {"gaussian", "kernel", "mdl"};
        for (int treatment = 0; treatment < 3; treatment++) {
            double right = 0;
            for (int seed = 1; seed <= repeats; seed++) {
                NaiveBayes model = new NaiveBayes();
                model.setUseKernelEstimator(treatment == 1);
                model.setUseSupervisedDiscretization(treatment == 2);
                Evaluation evaluation = new Evaluation(rows);
                if (held == null) {
                    evaluation.crossValidateModel(model, rows, 10, new Random(seed));
                } else {
                    model.buildClassifier(rows);
                    evaluation.evaluateModel(model, held);
                }
                right += evaluation.pctCorrect();
            }
            System.out.println(names[treatment] + " " + right / repeats);
        }
        Discretize filter = new Discretize();
        filter.setInputFormat(rows);
        Filter.useFilter(rows, filter);
        for (int column = 0; column < rows.numAttributes() - 1; column++) {
            if (rows.attribute(column).isNumeric()) {
                double[] cuts = filter.getCutPoints(column);
                StringBuilder line = new StringBuilder("cuts " + column);
                for (int cut = 0; cuts != null && cut < cuts.length; cut++) {
                    line.append(" ").append(cuts[cut]);
                }
                System.out.println(line);
            }
        }
    }
}
