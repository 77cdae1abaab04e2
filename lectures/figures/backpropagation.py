"""The opening picture of the lecture `backpropagation`: one neuron as a circuit, both passes done."""

from lectures.formulas import evaluate
from lectures.show import circuit_svg


def logistic_neuron() -> str:
    f = evaluate(
        "w0 = 2; x0 = -1; w1 = -3; x1 = -2; w2 = -3; f = 1 / (1 + exp(-(w0*x0 + w1*x1 + w2)))"
    )
    f.backward()
    graph = f.graph()
    return circuit_svg(graph.nodes, graph.edges)


PICTURES = {"logistic_neuron": logistic_neuron}
