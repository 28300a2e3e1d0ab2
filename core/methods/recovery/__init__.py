"""Recovery: training that wins back what a cut has cost, and that gives an encoder a head to classify with."""
