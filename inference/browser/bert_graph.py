"""BERT as an ONNX graph for a browser, with queries, keys and states as outputs.

    inputs   words (token, channel) float32: rows of the embedding table; types (token,) int64: 0 or 1;
             kept (layer, head) float32: 1, or 0 for an ablated head
    outputs  query.L, multiplied by the scale, and key.L, (head, token, channel of the head); states (token, channel)

The embedding table is not part of the graph: a text needs a few of its rows. A graph for masked words contains the
table, which it also needs for its output:

    inputs   ids (token,) int64; types as above; masks (mask,) int64: positions of the tokens to predict
    outputs  logits (mask, token of the vocabulary)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from i18n import gettext_lazy
from inference.browser.onnx_writer import FLOAT, LONG, GraphWriter
from inference.errors import UserError

Weights = Mapping[str, npt.NDArray[Any]]
ACTIVATIONS = ("gelu",)
TABLE = "embeddings.word_embeddings.weight"
NO_BERT = gettext_lazy("Only BERT models with WordPiece run in a browser.")


@dataclass(frozen=True)
class BertSizes:
    """The numbers of layers, heads, channels and positions of a BERT, and the epsilon of its norms."""

    layers: int
    heads: int
    channels: int
    positions: int
    epsilon: float


def sizes_of(config: Mapping[str, Any]) -> BertSizes:
    """Return the sizes in a configuration; raise UserError unless the model is a plain BERT."""
    plain = config.get("model_type") == "bert" and config.get("hidden_act") in ACTIVATIONS
    absolute = config.get("position_embedding_type", "absolute") == "absolute"
    if not plain or not absolute or config.get("is_decoder") or config.get("add_cross_attention"):
        raise UserError(NO_BERT)
    return BertSizes(
        int(config["num_hidden_layers"]),
        int(config["num_attention_heads"]),
        int(config["hidden_size"]),
        int(config["max_position_embeddings"]),
        float(config["layer_norm_eps"]),
    )


@dataclass
class _Bert:
    """The steps of a BERT, added to a graph; every method returns the name of its result."""

    sizes: BertSizes
    weights: Weights
    graph: GraphWriter = field(default_factory=GraphWriter)

    def vector(self, name: str) -> str:
        """Add a vector, in full precision because it is small."""
        return self.graph.constant(name, self.weights[name].astype(FLOAT))

    def dense(self, at: str, source: str) -> str:
        matrix = self.graph.matrix(f"{at}.weight", self.weights[f"{at}.weight"].T, 0)
        product = self.graph.node("MatMul", [source, matrix], f"{at}.product")
        return self.graph.node("Add", [product, self.vector(f"{at}.bias")], at)

    def norm(self, at: str, source: str) -> str:
        names = [source, self.vector(f"{at}.weight"), self.vector(f"{at}.bias")]
        return self.graph.node("LayerNormalization", names, at, axis=-1, epsilon=self.sizes.epsilon)

    def split(self, at: str, source: str) -> str:
        """Split (token, channel) into heads, (head, token, channel of the head)."""
        parted = self.graph.node("Reshape", [source, "by head"], f"{at}.parted")
        return self.graph.node("Transpose", [parted], f"{at}.split", perm=(1, 0, 2))

    def embed(self, words: str) -> str:
        """Add the position and the type of each token to its row of the embedding table."""
        graph, at = self.graph, "embeddings"
        types = graph.matrix("types.table", self.weights[f"{at}.token_type_embeddings.weight"], 1)
        places = graph.matrix("places.table", self.weights[f"{at}.position_embeddings.weight"], 1)
        graph.constant("start", np.array([0], LONG))
        tokens = graph.node("Shape", [words], "tokens", end=1)
        place = graph.node("Slice", [places, "start", tokens], "places")
        kind = graph.node("Gather", [types, "types"], "kinds")
        both = graph.node("Add", [words, graph.node("Add", [place, kind], "places and kinds")], "embedded")
        return self.norm(f"{at}.LayerNorm", both)

    def attend(self, layer: int, source: str) -> str:
        """Add the self-attention of a layer, with its queries and keys as outputs of the graph."""
        graph, at = self.graph, f"encoder.layer.{layer}.attention"
        query, key, value = (
            self.split(f"{at}.self.{name}", self.dense(f"{at}.self.{name}", source))
            for name in ("query", "key", "value")
        )
        query = graph.node("Mul", [query, "scale"], f"query.{layer}")
        key = graph.node("Identity", [key], f"key.{layer}")
        turned = graph.node("Transpose", [key], f"{at}.turned", perm=(0, 2, 1))
        weights = graph.node("Softmax", [graph.node("MatMul", [query, turned], f"{at}.scores")], f"{at}.maps", axis=-1)
        graph.constant(f"{at}.layer", np.array([layer], LONG))
        kept = graph.node("Gather", ["kept", f"{at}.layer"], f"{at}.kept row", axis=0)
        kept = graph.node("Reshape", [kept, "for each head"], f"{at}.kept")
        mixed = graph.node("Mul", [graph.node("MatMul", [weights, value], f"{at}.mixed"), kept], f"{at}.rest")
        joined = graph.node("Transpose", [mixed], f"{at}.turned back", perm=(1, 0, 2))
        joined = graph.node("Reshape", [joined, "joined"], f"{at}.joined")
        added = graph.node("Add", [self.dense(f"{at}.output.dense", joined), source], f"{at}.added")
        return self.norm(f"{at}.output.LayerNorm", added)

    def think(self, layer: int, source: str) -> str:
        """Add the feed-forward part of a layer."""
        at = f"encoder.layer.{layer}"
        wide = self.graph.node("Gelu", [self.dense(f"{at}.intermediate.dense", source)], f"{at}.gelu")
        added = self.graph.node("Add", [self.dense(f"{at}.output.dense", wide), source], f"{at}.added")
        return self.norm(f"{at}.output.LayerNorm", added)

    def encode(self, words: str) -> str:
        """Add the whole encoder to the graph, from rows of the embedding table to the states.

        The graph needs an input or a constant "kept".
        """
        sizes = self.sizes
        self.graph.input("types", LONG, ("tokens",))
        width = sizes.channels // sizes.heads
        self.graph.constant("by head", np.array([-1, sizes.heads, width], LONG))
        self.graph.constant("joined", np.array([-1, sizes.channels], LONG))
        self.graph.constant("for each head", np.array([sizes.heads, 1, 1], LONG))
        self.graph.constant("scale", np.array(width**-0.5, FLOAT))
        found = self.embed(words)
        for layer in range(sizes.layers):
            found = self.think(layer, self.attend(layer, found))
        return found


def attention_graph(config: Mapping[str, Any], weights: Weights) -> bytes:
    """Return the ONNX file of an encoder without its embedding table; matrices are stored in 16 bits.

    ``weights`` has the names of transformers' BertModel. Raise UserError if the model is not a plain BERT.
    """
    sizes = sizes_of(config)
    bert = _Bert(sizes, weights)
    bert.graph.input("words", FLOAT, ("tokens", sizes.channels))
    bert.graph.input("kept", FLOAT, (sizes.layers, sizes.heads))
    states = bert.graph.node("Identity", [bert.encode("words")], "states")
    width = sizes.channels // sizes.heads
    for layer in range(sizes.layers):
        for name in ("query", "key"):
            bert.graph.output(f"{name}.{layer}", FLOAT, (sizes.heads, "tokens", width))
    bert.graph.output(states, FLOAT, ("tokens", sizes.channels))
    return bert.graph.file()


def masked_graph(config: Mapping[str, Any], weights: Weights) -> bytes:
    """Return the ONNX file of a masked language model; matrices are stored in 16 bits.

    ``weights`` has the names of transformers' BertForMaskedLM, without the prefix "bert." of the encoder. Raise
    UserError if the model is not a plain BERT.
    """
    sizes = sizes_of(config)
    bert = _Bert(sizes, weights)
    graph, head = bert.graph, "cls.predictions.transform"
    for name, axis in (("ids", "tokens"), ("masks", "masks")):
        graph.input(name, LONG, (axis,))
    graph.constant("kept", np.ones((sizes.layers, sizes.heads), FLOAT))
    table = graph.matrix("table", weights[TABLE], 1)
    states = bert.encode(graph.node("Gather", [table, "ids"], "words"))
    masked = graph.node("Gather", [states, "masks"], "masked")
    turned = graph.node("Gelu", [bert.dense(f"{head}.dense", masked)], f"{head}.gelu")
    names = [bert.norm(f"{head}.LayerNorm", turned), table, bert.vector("cls.predictions.bias")]
    graph.output(graph.node("Gemm", names, "logits", transB=1), FLOAT, ("masks", len(weights[TABLE])))
    return graph.file()
