"""The glossary terms of the search palette, with the views that show them and words that find terms and views.

The search words are those of courses and papers. They are English in every language; titles are also found in the
active language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from i18n import gettext_lazy


@dataclass(frozen=True)
class GlossaryTerm:
    """A glossary term: its explanation, the view that shows it best, and further words by which it is found."""

    title: str
    note: str
    view: str
    aliases: str


# The place of teachers' pages, for the list of lessons and the search.
FOR_TEACHERS = gettext_lazy(
    "For teachers: in a network, open a class to see answer keys and the lesson editor on Lessons."
)

TERMS: tuple[GlossaryTerm, ...] = (
    GlossaryTerm(
        gettext_lazy("Attention weight"),
        gettext_lazy("Share of a token's attention to another token; a row's weights sum to 1."),
        "step_by_step",
        "attention score matrix heatmap",
    ),
    GlossaryTerm(
        gettext_lazy("Attention head"),
        gettext_lazy("One of a layer's parallel attention computations, with its own weights."),
        "explore",
        "multi-head attention multihead MHA how many heads number of heads",
    ),
    GlossaryTerm(
        gettext_lazy("Layer"),
        gettext_lazy("Attention and a feed-forward network; models stack several."),
        "block",
        "encoder decoder block architecture",
    ),
    GlossaryTerm(
        gettext_lazy("Query, key, value"),
        gettext_lazy("Vectors of a token: queries are compared with keys; the result mixes the values."),
        "step_by_step",
        "QKV Q K V scaled dot product dot-product attention projection bias matrix",
    ),
    GlossaryTerm(
        gettext_lazy("Softmax"),
        gettext_lazy("Turns scores into positive weights that sum to 1."),
        "by_hand",
        "exponential normalise probability",
    ),
    GlossaryTerm(
        gettext_lazy("Token"),
        gettext_lazy("A word or part of a word, the unit of a model's text."),
        "tokens",
        "wordpiece word piece subword BPE tokenizer tokenization",
    ),
    GlossaryTerm(
        gettext_lazy("Special token"),
        gettext_lazy("A token added by the tokenizer, such as [CLS]."),
        "tokens",
        "CLS SEP MASK PAD",
    ),
    GlossaryTerm(
        gettext_lazy("Self-attention and cross-attention"),
        gettext_lazy("Attention within a text, and from a translation to its source."),
        "translate",
        "encoder decoder self attention cross attention seq2seq",
    ),
    GlossaryTerm(
        gettext_lazy("Causal mask"),
        gettext_lazy("Hides later tokens, so that tokens attend only to earlier ones."),
        "generate",
        "GPT decoder masked attention autoregressive language model",
    ),
    GlossaryTerm(
        gettext_lazy("Embedding"),
        gettext_lazy("The vector of a token before the first layer."),
        "vectors",
        "word vector word2vec input embedding",
    ),
    GlossaryTerm(
        gettext_lazy("Positional encoding"),
        gettext_lazy("Numbers that encode the order of tokens."),
        "positions",
        "sinusoidal sine cosine position embedding RoPE ALiBi order",
    ),
    GlossaryTerm(
        gettext_lazy("Residual stream"),
        gettext_lazy("A token's vector, to which each layer adds its output."),
        "whole_pass",
        "residual skip connection",
    ),
    GlossaryTerm(
        gettext_lazy("Layer normalisation"),
        gettext_lazy("Rescales a vector to mean 0 and variance 1."),
        "block",
        "layer norm layernorm normalization RMSNorm",
    ),
    GlossaryTerm(
        gettext_lazy("Feed-forward network"),
        gettext_lazy("Two matrices of a layer that change each token alone."),
        "block",
        "FFN MLP feedforward",
    ),
    GlossaryTerm(
        gettext_lazy("Logit"),
        gettext_lazy("A score before the softmax."),
        "masked_words",
        "logit lens score prediction",
    ),
    GlossaryTerm(
        gettext_lazy("Weight above baseline"),
        gettext_lazy("The weight minus the larger of column mean and positional prior."),
        "find",
        "column mean positional prior excess",
    ),
    GlossaryTerm(
        gettext_lazy("Attention sink"),
        gettext_lazy("A token, often the first, that receives weight without meaning."),
        "measure",
        "CLS SEP first token no-op",
    ),
    GlossaryTerm(
        gettext_lazy("Entropy"),
        gettext_lazy("Spread of a token's attention; 0 if all goes to one token."),
        "measure",
        "spread uncertainty",
    ),
    GlossaryTerm(
        gettext_lazy("Ablation"),
        gettext_lazy("Zeroing a head's output to measure how the answer changes."),
        "cause",
        "ablate remove head zero causal",
    ),
    GlossaryTerm(
        gettext_lazy("Activation patching"),
        gettext_lazy("Replacing an activation by another text's to locate a difference."),
        "patching",
        "causal tracing interchange intervention",
    ),
    GlossaryTerm(
        gettext_lazy("Attribution method"),
        gettext_lazy("A rule that divides an output among input words."),
        "agreement",
        "gradient integrated gradients saliency LIME rollout explanation",
    ),
    GlossaryTerm(
        gettext_lazy("Surprisal"),
        gettext_lazy("The negative logarithm of a token's probability, in bits."),
        "masked_words",
        "perplexity probability",
    ),
    GlossaryTerm(
        gettext_lazy("Beam search"),
        gettext_lazy("Keeps the most probable partial texts at each step."),
        "translate",
        "beam width greedy decoding",
    ),
    GlossaryTerm(
        gettext_lazy("Temperature"),
        gettext_lazy("Divides the logits before sampling; higher: more varied."),
        "generate",
        "sampling top-k top-p",
    ),
    GlossaryTerm(
        gettext_lazy("Key–value cache"),
        gettext_lazy("Stored keys and values of earlier tokens, to save computing."),
        "generate",
        "KV cache",
    ),
    GlossaryTerm(
        gettext_lazy("Fine-tuning"),
        gettext_lazy("Training a model further on labelled examples."),
        "teach",
        "fine tune finetuning train classifier",
    ),
)
# Words by which a view is found, besides its title.
VIEW_ALIASES: Mapping[str, str] = {
    "explore": "heatmap attention matrix multi-head multihead export save image copy link share link",
    "find": "pronoun coreference anaphora",
    "break_head": "pronoun coreference counterexample",
    "bertviz_views": "neuron view model view",
    "compare": "two texts two models difference",
    "similarity": "CKA cosine hidden states",
    "pictures": "ViT vision transformer photo patches",
    "lessons": "exercise quiz course task worksheet teacher answer key print own lesson write editor",
    "step_by_step": "QKV scaled dot product formula calculation bias multi-head attention",
    "by_hand": "QKV scaled dot product small example gradient softmax calculation",
    "block": "encoder decoder architecture diagram",
    "whole_pass": "computation graph operations",
    "why_attention": "LSTM RNN CNN complexity",
    "tokens": "wordpiece tokenizer subword BPE",
    "positions": "sinusoidal sine cosine RoPE ALiBi",
    "vectors": "embedding word2vec analogy UMAP PCA",
    "masked_words": "MLM masked language model cloze logit lens",
    "next_sentence": "next sentence prediction NSP",
    "answers": "SQuAD QA",
    "translate": "translate Marian encoder decoder cross-attention",
    "generate": "GPT decoder autoregressive language model sampling",
    "measure": "probing relation syntax pronoun coreference",
    "roles": "previous token induction pattern",
    "cause": "ablate remove head causal effect",
    "patching": "causal tracing intervention",
    "agreement": "gradient saliency LIME rollout explanation",
    "teach": "train training classifier NER",
    "classroom": "teacher students room quiz",
}
