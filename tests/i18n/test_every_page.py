"""Every page in Chinese: no English sentence of a page is left in its main views and refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from i18n import translate, use_language
from inference import EMBEDDED
from inference.files.embedded import BERT, TRANSLATOR
from inference.task_heads import ANSWER, TAG
from probing.formats import load_ready_set
from tests.support import tinyheads, tinylabels, tinymodels
from tests.support.asking import allowed, asked, go, notes, press, sections_open, uploader
from tests.support.picturemodels import save as save_picture_model
from tests.support.picturemodels import sight
from tests.support.translators import tiny
from tests.support.words import english
from tests.ui.pages.compare.test_links import EXHAUSTED
from ui.input.probes import LIBRARY
from ui.pages.answers.spans import EXAMPLE as ANSWERS_EXAMPLE
from ui.pages.bertviz_views.page import KINDS
from ui.pages.generate.options import PROMPTS
from ui.pages.masked_words.options import MaskedWordsOptions
from ui.pages.next_sentence.page import EXAMPLE
from ui.pages.next_sentence.pairs_table import STARTERS
from ui.pages.tokens.page import RARE
from ui.pages.vectors.options import VectorsOptions
from ui.show.atlases import open_atlas
from ui.state.navigation import BY_VIEW

pytestmark = pytest.mark.slow

CAT = "the animal was a cat"
PROMPT = "The cat sat on the mat, and the dog"
SENTENCE = "The animal sat on the mat."
BLANK = {"model": BERT, "text": "The cat [MASK] on the mat."}
HEAD = {**BLANK, "zoom": "stage", "stage": 9, "row": 3, "column": 5, "change": "head"}
WRITER = {"model": "{models}/gpt2", "text": PROMPT}
TRANSLATING = {"model": "{models}/marian", "text": SENTENCE}
GUESSING = {"model": "{models}/bert", "text": "The animal was in the street."}
VECTORS = VectorsOptions()
READY_TEXTS = tuple(item.text for name in ("grammar", "pronouns") for item in load_ready_set(name).items)
PROBE_TEXTS = tuple(text for probe in LIBRARY for text in (probe.text, probe.other, *probe.neutral) if text)
ATLAS = open_atlas(EMBEDDED)
ATLAS_TEXTS = (*ATLAS.windows["text"].to_pylist(), *ATLAS.manifest["licences"])
PHOTOGRAPHER = "Stéfan van der Walt"

Query = Mapping[str, object]


@dataclass(frozen=True)
class Page:
    """The states of a view, and the English texts that it reads.

    A state is a query, and optionally a part of the Chinese note that the page shows for it.
    """

    states: Sequence[Query | tuple[Query, str]]
    read: tuple[str, ...] = ()


PAGES = {
    "head_atlas": Page([{}, {"layer": 2, "head": 11}, {"atlas": BERT, "across": "det", "seed": 3}], read=ATLAS_TEXTS),
    "atlas_search": Page([{}, {"onto_tag": "", "onto": "the", "only": 1, "layer": 2, "head": 8}], read=ATLAS_TEXTS),
    "atlas_compare": Page([{}, {"show": "shared", "layer": 2, "head": 1}, {"show": "first", "with": EMBEDDED}]),
    "atlas_build": Page([{}, {"build": "gone"}, {"tokens": 9}]),
    "agreement": Page(
        [
            {"text": CAT, "focus": 3, "itself": 1},
            {"text": "Hi", "special": 0},
            {"text": "word " * 140},
            {"text": CAT, "explain": "label"},
            {"text": CAT, "model": TRANSLATOR},
            {"text": CAT, "model": "{models}/text", "explain": "label", "focus": 3},
            {"text": CAT, "model": "{models}/words", "explain": "tag", "focus": 3},
        ],
    ),
    "block": Page([{"fold": "parameters,kinds,activation,cost"}]),
    "by_hand": Page(
        [
            ({}, "头 0：“it”把 92% 的注意力给了“cat”"),
            ({"numbers": "garbage"}, "链接中的数字已损坏"),
            ({"preset": "sentence", "heads": 3}, "3 个头无法平分 4 列"),
            ({"preset": "tutorial"}, "这里也是如此：“french” → “I”"),
            ({"preset": "tutorial", "heads": 4, "onward": 0, "stage": "all"}, "头 2 最接近"),
            ({"preset": "sentence", "causal": 1, "positions": 1, "cell": "masked-0-2"}, "加掩码后 = (−∞)"),
        ],
        ("unscaled",),  # of the figure, which says the same in words of its own
    ),
    "cause": Page(
        [
            {"text": CAT, "edits": "a3-1", "curve": 1, "steps": 2},
            {"text": CAT, "edits": "a3-1,a3-2", "watch": "blank", "curve": 1, "steps": 2, "greedy": "most"},
            {"text": CAT, "edits": "-", "clicking": "hide"},
            {"text": CAT, "edits": "c3-1-2-1", "clicking": "cut", "looks": 1},
            {"text": CAT, "edits": "a9-0"},
            {"text": CAT, "edits": "a5-0", "watch": "follows"},
            {"text": CAT, "edits": "a5-0", "watch": "follows", "pair": "it was asleep", "later": 3},
            {"text": CAT, "edits": "a0-0", "watch": "next"},
            {"text": CAT, "watch": "blank", "first": "it", "second": "it"},
            {"text": "word " * 600},
            {"text": CAT, "model": TRANSLATOR},
            {"text": CAT, "model": "{models}/text", "watch": "label", "edits": "a0-1"},
            {"text": CAT, "model": "{models}/words", "watch": "tag", "edits": "a0-1"},
            {"text": CAT, "model": "{models}/grade", "watch": "label", "edits": "a0-1"},
        ],
    ),
    "compare": Page(
        [
            {"layer": 3, "head": 1},
            {"other": EXHAUSTED, "focus": 10, "to": 12},
            {"text": "A cat.", "other": "Some dogs!"},
            {"differs": "text", "text": "A cat.", "other": ""},
            {"differs": "model", "beside": TRANSLATOR},
            {"differs": "edit", "edits": "a1-0"},
            {"show": "set"},
            {"show": "set", "bring": "file"},
        ],
        ("Headlight English to French",),
    ),
    "explore": Page(
        [
            {},
            {"words": 1, "special": 0},
            {"layer": 99, "head": 3, "focus": 400, "pins": "x", "count": "y"},
            {"cut": 5},
            {"text": "猫坐在垫子上。"},
            {"opened": "file-x"},
            {"text": " "},
            {"text": "[SEP]", "special": 0},
        ],
        ("it was too tired | too wide",),
    ),
    "find": Page(
        [
            {"inward": 1},
            {"by": "weight"},
            {"other": "Nobody came."},
            {"text": "cat", "against": 99, "clicking": "x"},
            {"text": LIBRARY[-1].text},
            {"text": " "},
        ],
        PROBE_TEXTS,
    ),
    "break_head": Page(
        [
            {"text": "The dog chased the cat because it was scared.", "right": "dog", "other": "cat", "layer": 3},
            {"text": "The dog chased the cat because it was scared.", "right": "cat", "head": 99, "clicking": "x"},
            {"text": "The dog saw the cat because it sang.", "rewordings": "Nobody came."},
            {"text": "It rains."},
            {"text": " "},
        ],
    ),
    "generate": Page(
        [
            (WRITER, "排在第一的是“"),
            (
                {**WRITER, "text": "The animal didn't cross the street because it was too tired."},
                "示例在“tired”之前停止",
            ),
            ({**WRITER, "show": "looks"}, "关注得最远"),
            ({**WRITER, "show": "looks", "over": "layer", "cell": "reach", "first": "0"}, "第 0 层的平均关注更早的“"),
            ({**WRITER, "show": "looks", "over": "all", "at": "2"}, "在“sat”出现之前，文本太短"),
            ({**WRITER, "at": "0"}, "没有哪一步预测第一个词元"),
            ({**WRITER, "show": "heads"}, "关注更早的“"),
            {**WRITER, "show": "layers"},
            ({**WRITER, "show": "sink"}, "均匀分配时"),
            ({**WRITER, "show": "induction"}, "惊异度"),
            ({**WRITER, "written": "1.x", "of": "0"}, "只显示提示"),
            ({**WRITER, "written": "301.300", "of": "deadbeef"}, "只显示提示"),
        ],
        PROMPTS,
    ),
    "masked_words": Page(
        [
            (GUESSING, "原词“"),
            ({**GUESSING, "ask": "it, playing, 猫", "text": "We playing it."}, "bert 预测“"),
            ({**GUESSING, "text": "We [MASK] [MASK] it."}, "第 1 个空："),
            ({**GUESSING, "show": "looks"}, "给了“"),
            {**GUESSING, "show": "layers"},
            ({**GUESSING, "show": "words"}, "积分梯度：“"),
            ({**GUESSING, "show": "surprise"}, "伪困惑度"),
            ({**GUESSING, "show": "two"}, "几率改变了"),
            ({**GUESSING, "show": "two", "one": "is"}, "两个不同的词"),
            ({**GUESSING, "show": "lesson"}, "选中的词元"),
            ({**GUESSING, "show": "words", "text": "[MASK]"}, "没有其他可能"),
        ],
        (MaskedWordsOptions.first, MaskedWordsOptions.second),
    ),
    "measure": Page(
        [
            {},
            {"data": "pronouns", "way": "out", "outcome": "hits"},
            {"relation": "det", "control": 0, "outcome": "misses"},
            {"least": 100_000, "control": 0},
            {"data": "file"},
            {"data": "file", "format": "gap"},
            {"data": "file", "format": "csv"},
        ],
        READY_TEXTS,
    ),
    "patching": Page(
        [
            {},
            {"text": "A cat sat.", "other": "A dog sat.", "watch": "vector", "lent": "h99-1"},
            {"text": "A cat sat.", "other": "A cat sat.", "watch": "vector"},
            {"text": "A cat.", "other": "Some dogs!"},
            {"text": "A [MASK] sat.", "other": "A cat ran."},
            {"text": "word " * 70, "other": "word " * 69 + "cat", "watch": "vector"},
            {"text": "A cat sat.", "other": ""},
            {"model": TRANSLATOR, "text": "The cat sleeps.", "other": "The dog sleeps."},
        ],
    ),
    "similarity": Page(
        [
            {},
            *({"show": show} for show in ("lines", "words", "removal", "heads", "search")),
            {"text": "Cat", "other": "Dog", "show": "removal"},
            *({"pooling": pooling} for pooling in ("mean", "words", "first", "max", "last")),
            {"text": "A cat sat.", "other": ""},
            {"text": "word " * 70, "other": "cat", "show": "words"},
            {"model": TRANSLATOR, "text": "The cat sleeps.", "other": "The dog sleeps."},
        ],
    ),
    "pictures": Page(
        [
            {"show": "matrix"},
            {"shown": "rollout", "look": "in"},
            {"show": "says"},
            {"show": "without"},
            {"show": "roles", "role": "broad"},
            {"show": "links"},
            {"show": "links", "region_a": "2-3-5-6", "region_b": "9-9-12-12"},
            {"show": "links", "region_a": "0-0-15-15", "region_b": "9-9-12-12"},
            {"show": "beside"},
            {"shown": "norms"},
            {"given": "0123456789ab"},
            {"vision": "nobody/nothing", "side": 336},
            {"vision": "{models}/dino", "show": "beside"},
            {"vision": "{models}/dino", "show": "beside", "beside": "brought"},
            {"vision": "{models}/dino", "show": "beside", "beside": "model", "of_layer": 9},
            {"vision": "{models}/dino", "show": "without", "token": 7, "watch": "class"},
        ],
        (PHOTOGRAPHER, "dino", "Dinov2Model"),
    ),
    "positions": Page(
        [
            {},
            {"mix": "swap"},
            {"mix": "swap", "text": "Cat"},
            {"show": "vectors"},
            {"show": "shift"},
            {"show": "distance"},
            {"model": TRANSLATOR, "text": "The cat sleeps.", "show": "vectors"},
        ],
    ),
    "roles": Page(
        [
            {},
            {"source": "sentences", "relations": 0, "outcome": "misses"},
            {"relations": 0, "relation": "broad", "share": 10},
            {"relations": 0, "share": 100, "only": "none", "text": "cat"},
            {"relation": "det"},
            {"text": " ", "relations": 0},
        ],
        READY_TEXTS,
    ),
    "step_by_step": Page(
        [{"layer": 3, "head": 1, "stage": "all"}, {"show": "neuron"}, {"show": "rules"}, {"show": "heads"}],
    ),
    "tokens": Page(
        [
            {"text": "The animal was too tired"},
            {"text": RARE, "pair": "It was asleep.", "beside": TRANSLATOR},
            {"text": "Embeddings", "beside": "nobody/nothing"},
            {"text": "the cat sat on the mat " * 60, "model": TRANSLATOR},
            {"text": "[MASK] " * 9, "at": 2},
            {"text": ""},
        ],
        ("deja vu in reykjavik, 你 好 👍🏽 it was asleep",),  # the text without its accents
    ),
    "translate": Page(
        [
            (TRANSLATING, "最关注“"),
            ({**TRANSLATING, "way": "beam", "late": "1"}, "读完“"),
            ({**TRANSLATING, "target": "the cat", "cross": "mean"}, "所有交叉注意力头的平均最关注"),
            ({**TRANSLATING, "way": "own"}, "请在上方输入"),
            ({**TRANSLATING, "target": "the cat", "way": "greedy"}, "请选择“自定义”"),
            ({**TRANSLATING, "show": "step", "step": "1"}, "第 2 步，共 "),
            ({**TRANSLATING, "show": "beams", "dropped": "1"}, "种续写；最好的是"),
            ({**TRANSLATING, "show": "heads", "side": "cross"}, "这一行：读完"),
            ({**TRANSLATING, "show": "heads", "side": "decoder"}, "这一行：读完"),
            ({**TRANSLATING, "show": "without"}, "去掉交叉注意力头 "),
            ({**TRANSLATING, "show": "without", "edits": "-"}, "没有消融任何部分"),
            (
                {**TRANSLATING, "show": "without", "clicking": "cut", "step": "0", "edits": "ae0-0,ax0-0,cx0-0-1-2"},
                "去掉编码器头 0-0、交叉注意力头 0-0、对第 2 步隐藏“he”（1 个头）：",
            ),
            (
                {**TRANSLATING, "show": "without", "edits": "cx0-0-0-0,cx0-0-0-1,cx0-0-0-2,cx0-0-0-3,ux0-1"},
                "、其他改动：2",
            ),
            ({**TRANSLATING, "show": "best"}, "对齐错误率"),
            ({**TRANSLATING, "text": "my cat is my 猫"}, "译文是编造的"),
        ],
    ),
    "vectors": Page(
        [
            {},
            ({"words": 0, "flat": "umap"}, "词元"),
            {"mix": "level", "level": 2, "words": 0, "flat": "umap"},
            {"text": "Cat", "special": 0},
            {"text": "word " * 60, "axes": 3},
            {"show": "contexts"},
            {"show": "contexts", "second": "-", "third": "-"},
            {"show": "sentences"},
            {"show": "sentences", "pooling": "max", "axes": 3, "lines": "One.\nTwo things."},
            {"show": "sentences", "lines": "word " * 600 + "\nTwo things.\nThree."},
            {"show": "sentences", "lines": ""},
            {"show": "sentences", "bring": "file"},
        ],
        (VECTORS.first, VECTORS.second, VECTORS.third, VECTORS.lines),
    ),
    "whole_pass": Page(
        [
            ({"model": EMBEDDED, "text": "The cat sat."}, "不是概率"),
            (BLANK, "词元 3“[MASK]”处的输出：“"),
            ({**BLANK, "ends": "next", "pair": "It was tired."}, "“第二段接在后面”"),
            ({**BLANK, "zoom": "stage", "stage": 40, "row": 3, "change": "stage"}, "词元 3“[MASK]”处的输出：“"),
            ({**BLANK, "zoom": "stage", "stage": 40, "change": "stage", "becomes": "much"}, "“much”不是数字"),
            (HEAD, "已消融头 0-0。"),
            ({**HEAD, "lender": "The dog [MASK]"}, "已在 9 个词元中的 5 个上换入头 0-0 的输出。"),
            ({**HEAD, "becomes": "1"}, "填 0 可消融注意力头"),
            ({**HEAD, "change": "stage", "lender": "The dog [MASK]"}, "9 个词元中有 5 个能对齐。"),
            (
                {**HEAD, "change": "token", "row": 6, "lender": "The cat"},
                "“mat”（词元 6）在供体文本中没有对齐的词",
            ),
            ({"text": "The cat sat.", "zoom": "stage", "stage": 2, "row": 1, "column": 3}, "，列 3："),
            ({"model": TRANSLATOR, "text": "The cat sleeps.", "zoom": "layer", "stage": 60}, "解码器，第 0 层，"),
            ({"model": TRANSLATOR, "text": "The cat sleeps."}, "”处的输出：“"),
        ],
        ("Paris is the [MASK] of France",),
    ),
    "answers": Page(
        [
            {"model": EMBEDDED},
            {"model": "{models}/answers"},
            {"model": "{models}/answers", "text": "who played", "pair": "the cat was an animal", "ends": "start"},
            {"model": "{models}/sure", "text": "who played", "pair": "the cat was an animal", "looks": "question"},
        ],
        ANSWERS_EXAMPLE,
    ),
    "why_attention": Page(
        [
            ({}, "自注意力的代价是循环层的 0.0417 倍"),
            ({"task": "parity", "when": "before", "n": 500, "d": 64}, "自注意力的代价是循环层的 7.81 倍"),
            ({"task": "order", "n": 64, "d": 64}, "自注意力的代价是循环层的 1 倍"),
        ],
    ),
}
# Pages with a test of their own below, or with tests that press their controls in both languages.
ELSEWHERE = {"bertviz_views", "classroom", "lessons", "next_sentence", "teach"}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("models")
    tinymodels.save(root / "gpt2", "gpt2")
    tiny(root / "marian")
    tinyheads.save(root / "bert", "BERT", head=2)
    tinylabels.save(root / "text")
    tinylabels.save(root / "words", head=TAG)
    tinylabels.save(root / "answers", head=ANSWER, labels=("start", "end"))
    tinylabels.save(root / "sure", head=ANSWER, labels=("start", "end"), no_answer=False)
    tinylabels.save(root / "grade", labels=("grade",))
    save_picture_model(sight("DINOv2"), root / "dino")
    with allowed(root):
        yield root


def test_no_page_is_left_out() -> None:
    assert set(BY_VIEW) == PAGES.keys() | ELSEWHERE


@pytest.mark.parametrize("name", PAGES)
def test_no_english_is_left(models: Path, name: str) -> None:
    around = () if name not in ("block", "step_by_step") else tuple(english(asked("explore", lang="zh")))
    for state in PAGES[name].states:
        given, expected = state if isinstance(state, tuple) else (state, "")
        query = {key: str(value).replace("{models}", str(models)) for key, value in given.items()}
        with sections_open():
            page = asked(name, lang="zh", **query)
        assert not page.exception, query
        if expected:
            shown = [*notes(page), *notes(page, "refusal")]
            assert any(expected in note for note in shown), (query, shown)
        texts = [value for value in query.values() if len(value) > 1]
        assert english(page, *PAGES[name].read, *around, *texts) == [], query
        with use_language("zh"):
            assert page.title[0].value == translate(BY_VIEW[name].title), query


def upload(name: str, key: str, file: tuple[str, bytes, str], **query: object) -> AppTest:
    """Return a page in Chinese with a file in its uploader."""
    page = asked(name, lang="zh", **query)
    with use_language("zh"):  # AppTest names the options of the page's other controls itself
        page.file_uploader(key=key).set_value(file).run()
    assert not page.exception
    return page


def test_files_of_sentences_are_described_in_chinese() -> None:
    files = {
        "empty.txt": b" \n",
        "short.csv": b"text\n",
        "numbers.csv": b"a,,b\n1,2,3\n4,5,6\n",
        "texts.csv": b"id,text\n1,A first one.\n2,A second one.\n",
    }
    for name, content in files.items():
        page = upload("vectors", "vectors_file", (name, content, "text/csv"), show="sentences", bring="file")
        assert english(page) == [], name


def test_sets_of_pairs_are_described_in_chinese() -> None:
    for one, other in (("change", "control"), ("change", "change"), ("control", "control")):
        rows = [
            "a,b,kind",
            f"A cat sat.,A dog sat.,{one}",
            f"A cat sat.,A cat sits.,{other}",
            "One.,Two three four.,change",
        ]
        file = ("pairs.csv", "\n".join(rows).encode(), "text/csv")
        page = upload("compare", "compare_file", file, show="set", bring="file")
        assert english(page) == [], (one, other)


def test_a_refused_picture_is_described_in_chinese() -> None:
    page = asked("pictures", lang="zh")
    with use_language("zh"):
        uploader(page, "picture_file").upload("a.png", b"GIF89a", "image/png").run()
    assert english(page, PHOTOGRAPHER) == []


def test_ablations_of_a_picture_are_described_in_chinese(models: Path) -> None:
    for more in ({}, {"edits": "h0-7,a0-1"}, {"edits": "c1-2-7-0", "looks": 8}):
        page = asked("pictures", lang="zh", vision=str(models / "dino"), show="without", token=7, **more)
        press(page, "消融每个头")
        press(page, "随机基线")
        assert english(page, PHOTOGRAPHER, str(models / "dino"), "dino", "Dinov2Model") == [], more


def test_judged_pairs_are_described_in_chinese() -> None:
    read = (str(EXAMPLE["text"]), str(EXAMPLE["pair"]), *(text for pair in STARTERS for text in pair))
    queries: list[dict[str, object]] = [
        {},
        {"model": BERT, "text": "The cat sat on the mat.", "pair": "It was asleep within a minute.", "looks": "first"},
        {"pair": "The river is long.", "text": "My sister plays the violin.", "at": "others", "layer": 1, "head": 2},
    ]
    for query in queries:
        page = asked("next_sentence", lang="zh", **query)
        press(page, "判断这些文本对")
        assert not page.exception
        assert english(page, *read, *map(str, query.values())) == [], query


def test_bertviz_views_are_described_in_chinese() -> None:
    for kind in KINDS:
        page = asked("explore", lang="zh", bertviz=kind)
        around = set(english(page))
        go(page, "bertviz_views")
        assert not page.exception
        assert set(english(page)) <= around, kind


def test_a_tree_of_written_tokens_is_described_in_chinese(models: Path) -> None:
    page = asked("generate", lang="zh", model=str(models / "gpt2"), text=PROMPT, show="looks")
    press(page, "下一个词元")
    assert "历史" in [expander.label for expander in page.expander]
    assert english(page, PROMPT, *PROMPTS) == []
