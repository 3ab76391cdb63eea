import java.io.BufferedReader;
import java.io.FileReader;
import java.util.Random;
import weka.classifiers.Evaluation;
import weka.classifiers.bayes.NaiveBayes;
import weka.core.Attribute;
import weka.core.Instances;
import weka.filters.Filter;
import weka.filters.supervised.attribute.Discretize;

/** Cross-validates (or, given a second file, trains and tests) Weka's NaiveBayes with its three treatments of numbers; prints its folds, accuracies, and the cuts of its Discretize. */
class WekaDensities {
    static final int FOLDS = 10;

    /** The fold of each row in crossValidateModel with this seed: the same steps, on rows that carry their number. */
    static String folds(Instances rows, int seed) {
        Instances numbered = new Instances(rows);
        numbered.insertAttributeAt(new Attribute("row"), 0);
        for (int row = 0; row < numbered.numInstances(); row++) {
            numbered.instance(row).setValue(0, row);
        }
        numbered.randomize(new Random(seed));
        numbered.stratify(FOLDS);
        int[] fold = new int[rows.numInstances()];
        for (int part = 0; part < FOLDS; part++) {
            Instances asked = numbered.testCV(FOLDS, part);
            for (int row = 0; row < asked.numInstances(); row++) {
                fold[(int) asked.instance(row).value(0)] = part;
            }
        }
        StringBuilder line = new StringBuilder("folds");
        for (int part : fold) {
            line.append(" ").append(part);
        }
        return line.toString();
    }

    public static void main(String[] arguments) throws Exception {
        Instances rows = new Instances(new BufferedReader(new FileReader(arguments[0])));
        rows.setClassIndex(rows.numAttributes() - 1);
        int repeats = Integer.parseInt(arguments[1]);
        Instances held = null;
        if (arguments.length > 2) {
            held = new Instances(new BufferedReader(new FileReader(arguments[2])));
            held.setClassIndex(held.numAttributes() - 1);
        }
        for (int seed = 1; seed <= repeats && held == null; seed++) {
            System.out.println(folds(rows, seed));
        }
        String[] names = {"gaussian", "kernel", "mdl"};
        for (int treatment = 0; treatment < 3; treatment++) {
            StringBuilder line = new StringBuilder(names[treatment]);
            for (int seed = 1; seed <= repeats; seed++) {
                NaiveBayes model = new NaiveBayes();
                model.setUseKernelEstimator(treatment == 1);
                model.setUseSupervisedDiscretization(treatment == 2);
                Evaluation evaluation = new Evaluation(rows);
                if (held == null) {
                    evaluation.crossValidateModel(model, rows, FOLDS, new Random(seed));
                } else {
                    model.buildClassifier(rows);
                    evaluation.evaluateModel(model, held);
                }
                line.append(" ").append(evaluation.pctCorrect());
            }
            System.out.println(line);
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
