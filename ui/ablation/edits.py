"""Ablated heads and masked edges: codes in an address, toggling by clicks, and sentences about them."""

from __future__ import annotations

from collections.abc import Sequence

from attention.edits import Ablate, Edit, EditSet, MaskEdge, MaskKey, Uniform, split_codes, unpack
from attention.head_names import head_label, parse_head
from attention.view import View
from i18n import _, error_message, ngettext
from ui.show.text import format_comma_list, format_semicolon_list

NOTHING = "-"  # Value in the link for an empty list of edits.
MOST_NAMED = 4  # Maximum number of heads listed by name in a sentence; a longer list is only counted.
MOST_LISTED = 24  # Maximum number of heads in the panel's list.
Head = tuple[int, int]


def edits_of(chosen: str, head: Head | None, part: str = "") -> tuple[EditSet, list[str]]:
    """Parse the edit codes ``chosen`` of an address; also return a sentence for each invalid code.

    Without codes, return the ablation of ``head``, or no edits if ``head`` is None. A code that is a head's name, such
    as "3-1", means the ablation of this head in the stack ``part``.

    >>> edits_of("", (3, 1)), edits_of("", None), edits_of("u0-2", (3, 1))
    (((Ablate(layer=3, head=1, part=''),), []), ((), []), ((Uniform(layer=0, head=2, part=''),), []))
    >>> edits_of("3-1, L0H2", None)
    ((Ablate(layer=3, head=1, part=''), Ablate(layer=0, head=2, part='')), [])
    """
    if not chosen:
        return () if head is None else (Ablate(*head, part),), []
    found: list[Edit] = []
    notes: list[str] = []
    for word in split_codes(chosen) if chosen != NOTHING else []:
        if (named := parse_head(word)) is not None:
            found.append(Ablate(*named, part))
            continue
        try:
            found += unpack(word)
        except ValueError as error:
            notes.append(error_message(error))
    return tuple(dict.fromkeys(found)), notes


def toggle_edits(edits: EditSet, some: Sequence[Edit]) -> EditSet:
    """Return the edits after a click on ``some``: without these edits if all are present, else with them.

    >>> toggle_edits((Ablate(0, 1),), [Ablate(2, 3)]), toggle_edits((Ablate(0, 1),), [Ablate(0, 1)])
    ((Ablate(layer=0, head=1, part=''), Ablate(layer=2, head=3, part='')), ())
    """
    if set(some) <= set(edits):
        return tuple(edit for edit in edits if edit not in some)
    return tuple(dict.fromkeys((*edits, *some)))


def keep_only(layer: int, places: Sequence[Head]) -> EditSet:
    """Return the ablation of all heads in ``places`` that are in another layer than ``layer``.

    >>> keep_only(1, [(0, 0), (0, 1), (1, 0)])
    (Ablate(layer=0, head=0, part=''), Ablate(layer=0, head=1, part=''))
    """
    return tuple(Ablate(*place) for place in places if place[0] != layer)


def swap_heads(edits: EditSet, places: Sequence[Head]) -> EditSet:
    """Return edits that ablate exactly those heads of ``places`` that ``edits`` does not ablate.

    Edits that are not ablations stay.

    >>> swap_heads((Ablate(0, 1), Uniform(1, 0)), [(0, 0), (0, 1), (1, 0)])
    (Ablate(layer=0, head=0, part=''), Ablate(layer=1, head=0, part=''), Uniform(layer=1, head=0, part=''))
    """
    gone = {(edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate)}
    rest = [edit for edit in edits if not isinstance(edit, Ablate)]
    return (*(Ablate(*place) for place in places if place not in gone), *rest)


def describe_edit(edit: Edit) -> str:
    """Return a phrase for an edit; layers, heads and tokens count from 0.

    >>> describe_edit(Ablate(3, 1)), describe_edit(MaskEdge(3, 1, 8, 2))
    ('head 3-1 ablated', 'head 3-1: 8 → 2 masked')
    """
    if isinstance(edit, Ablate):
        return _describe_ablated([(edit.layer, edit.head)])
    if isinstance(edit, Uniform):
        return _describe_uniform([(edit.layer, edit.head)])
    if isinstance(edit, MaskEdge):
        return _describe_masked_edge(edit, edit.query, edit.key)
    if isinstance(edit, MaskKey):
        return _("layer {layer}: {key} masked", layer=edit.layer, key=_("token {number}", number=edit.key))
    return _("layer {layer}: value of token {key} zeroed", layer=edit.layer, key=edit.key)


def describe_edits(edits: EditSet, view: View) -> str:
    """Return a short phrase for all edits as plain text, with the words of ``view``.

    Edits of the same word or the same pair of words are named once.
    """
    said = []
    if removed := sorted((edit.layer, edit.head) for edit in edits if isinstance(edit, Ablate)):
        said.append(_describe_ablated(removed))
    if even := sorted((edit.layer, edit.head) for edit in edits if isinstance(edit, Uniform)):
        said.append(_describe_uniform(even))
    hidden = {
        view.keys[at].text: 0 for edit in edits if isinstance(edit, MaskKey) and (at := at_token(view, edit.key)) >= 0
    }
    said += [_("{key} masked", key=f"“{text}”") for text in hidden]
    cuts = {
        (view.keys[one].text, view.keys[other].text): edit
        for edit in edits
        if isinstance(edit, MaskEdge) and min(one := at_token(view, edit.query), other := at_token(view, edit.key)) >= 0
    }
    said += [_describe_masked_edge(edit, f"“{one}”", f"“{other}”") for (one, other), edit in sorted(cuts.items())]
    if muted := sum(not isinstance(edit, Ablate | Uniform | MaskKey | MaskEdge) for edit in edits):
        said.append(_("values zeroed: {many}", many=muted))
    return format_comma_list(said) if said else ""


def edit_settings(edits: EditSet, view: View) -> dict[str, str]:
    """Return all edits as fields of a file's provenance, from which a reader can repeat them.

    Tokens are given by number and word.

    >>> edit_settings((), None), edit_settings((Ablate(5, 11), Ablate(3, 1), Uniform(0, 2, "cross")), None)
    ({'edits': 'none'}, {'ablated_heads': '3-1, 5-11', 'uniform_heads': 'cross 0-2'})
    """
    names = {Ablate: "ablated_heads", Uniform: "uniform_heads", MaskEdge: "masked_edges", MaskKey: "masked_tokens"}
    listed: dict[str, list[str]] = {names.get(type(edit), "zeroed_values"): [] for edit in edits}
    layers: dict[tuple[str, str], list[str]] = {}
    for edit in sorted(edits, key=lambda edit: (edit.part, edit.layer)):
        name = names.get(type(edit), "zeroed_values")
        if isinstance(edit, Ablate | Uniform):
            listed[name].append(f"{edit.part} {head_label(edit.layer, edit.head)}".strip())
        elif isinstance(edit, MaskEdge):
            link = f"{token_name(view, edit.query)} → {token_name(view, edit.key)}"
            listed[name].append(f"{edit.part} {head_label(edit.layer, edit.head)}: {link}".strip())
        else:
            layers.setdefault((name, f"{edit.part} {token_name(view, edit.key)}".strip()), []).append(str(edit.layer))
    for (name, token), some in layers.items():
        listed[name].append(f"{token} in layers {' '.join(some)}")
    return {name: ", ".join(parts) for name, parts in listed.items()} or {"edits": "none"}


def describe_metric(names: Sequence[str]) -> str:
    """Return the name of a metric for the provenance of saved numbers.

    ``names`` are the two answers whose log-odds are measured; () means that the sentence vector is compared.

    >>> describe_metric(("cat", "dog"))
    'log-odds of “cat” against “dog”'
    """
    if names:
        return f"log-odds of “{names[0]}” against “{names[1]}”"
    return "sentence vector (mean of the last layer's tokens)"


def token_name(view: View, token: int) -> str:
    """Return the number of a token, followed by the displayed word or token that contains it."""
    at = at_token(view, token)
    return f"{token} “{view.keys[at].text}”" if at >= 0 else str(token)


def _describe_ablated(heads: Sequence[Head]) -> str:
    """Return a phrase for ablated heads, with their names if they are few."""
    if len(heads) > MOST_NAMED:
        return _("{many} heads ablated", many=len(heads))
    return ngettext("head {heads} ablated", "heads {heads} ablated", len(heads), heads=_names(heads))


def _describe_uniform(heads: Sequence[Head]) -> str:
    """Return a phrase for heads with uniform weights, with the names of the first."""
    named = _names(heads[:MOST_NAMED]) + (" …" if len(heads) > MOST_NAMED else "")
    return _("uniform weights in {heads}", heads=named)


def _describe_masked_edge(edit: MaskEdge, query: object, key: object) -> str:
    """Return a phrase for a masked edge between two words or tokens."""
    return _("head {layer}-{head}: {query} → {key} masked", layer=edit.layer, head=edit.head, query=query, key=key)


def _names(heads: Sequence[Head]) -> str:
    return format_comma_list([head_label(layer, head) for layer, head in heads])


def count_edits(edits: EditSet) -> str:
    """Return a phrase with the numbers of ablated, uniform and other edits, and the names of the heads.

    >>> count_edits((Ablate(5, 11), Ablate(3, 1), MaskEdge(0, 1, 2, 3)))
    'Ablated (2): 3-1, 5-11; other edits: 1'
    >>> count_edits(())
    'Nothing is ablated.'
    """
    said = []
    if removed := sorted((edit for edit in edits if isinstance(edit, Ablate)), key=lambda e: (e.part, e.layer, e.head)):
        said.append(_("Ablated ({many}): {heads}", many=len(removed), heads=_list_heads(removed)))
    if even := sorted((edit for edit in edits if isinstance(edit, Uniform)), key=lambda e: (e.part, e.layer, e.head)):
        said.append(_("Uniform weights ({many}): {heads}", many=len(even), heads=_list_heads(even)))
    if others := len(edits) - len(removed) - len(even):
        said.append(_("other edits: {many}", many=others))
    return format_semicolon_list(said) if said else _("Nothing is ablated.")


def _list_heads(edits: Sequence[Ablate | Uniform]) -> str:
    names = [f"{edit.part} {head_label(edit.layer, edit.head)}".strip() for edit in edits[:MOST_LISTED]]
    return format_comma_list([*names, "…"] if len(edits) > MOST_LISTED else names)


def at_token(view: View, token: int) -> int:
    """Return the index of the displayed word or token that contains a token; -1 if there is none."""
    return next((at for at, cell in enumerate(view.keys) if cell.pieces[0] <= token < cell.pieces[1]), -1)
