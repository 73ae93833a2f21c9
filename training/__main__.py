"""The command line ``python -m training``: training, export and architecture baselines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from inference.errors import Parser, UserError, hide_details, report
from training.architecture_baselines import command as rivals
from training.config import Amount, Count, check_value
from training.finetune import answer_command, command

if TYPE_CHECKING:
    from training.loop import RunBudget

# Allowed ranges of numeric options. The training loop checks --raise-to, because its range depends on the run.
NUMBERS = {
    "stop_after": Amount,
    "finish_in": Amount,
    "pairs": Count,
    "sentences": Count,
    **rivals.NUMBERS,
    **command.NUMBERS,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    The status is 0 on success, 2 if the command is refused (the reason is printed on standard error) and 130 after
    Ctrl-C.
    """
    asked = _parser().parse_args(arguments)
    if asked.command not in ("job", "atlas"):  # the app stores a job's log, and it needs the details
        hide_details()
    try:
        for name, kind in NUMBERS.items():
            if (value := getattr(asked, name, None)) is not None:
                check_value(f"--{name.replace('_', '-')}", value, kind)
        if asked.command in command.KINDS:
            command.run(asked)
        elif asked.command == answer_command.NAME:
            answer_command.run(asked)
        elif asked.command == "job":
            from training.finetune import job_command

            job_command.run(asked.folder)
        elif asked.command == "atlas":
            from training import atlas_job

            atlas_job.run(asked.folder)
        elif asked.command == "rivals":
            rivals.run(asked)
        elif asked.command in ("pretrain", "export"):
            _bert(asked)
        else:
            _translator(asked)
    except UserError as refusal:
        print(refusal.message, file=sys.stderr)
        return 2
    except OSError as error:
        return report(error)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return 0


def _bert(asked: argparse.Namespace) -> None:
    from training import bert, config, export

    settings = config.read(asked.config)
    if asked.command == "pretrain":
        bert.pretrain(settings, _stint(asked))
    else:
        export.export(settings, asked.folder, pairs=asked.pairs, further=asked.further)


def _translator(asked: argparse.Namespace) -> None:
    from training.translation import config, export, run

    settings = config.read(asked.config)
    if asked.command == "translate":
        run.train(settings, _stint(asked))
    else:
        export.export(settings, asked.folder, sentences=asked.sentences)


def _stint(asked: argparse.Namespace) -> RunBudget:
    from training.loop import RunBudget

    return RunBudget(asked.stop_after, asked.finish_in, asked.raise_to)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m training",
        description="Trains a BERT with both heads, a Transformer that translates, or a model for a task.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    pretrain = commands.add_parser("pretrain", help="start a BERT's run, or go on with it")
    export = commands.add_parser("export", help="write the BERT as a folder, with its scores and its card")
    translate = commands.add_parser("translate", help="start a translator's run, or go on with it")
    translator = commands.add_parser("export-translator", help="write the translator as a folder, likewise")
    command.add(commands)
    answer_command.add(commands)
    job = commands.add_parser("job", help="what the app asks for: the training in a folder of taught models")
    job.add_argument("folder", type=Path, metavar="FOLDER", help="with its job.json; docs/TRAINING.md says what else")
    atlas = commands.add_parser("atlas", help="what the app asks for: the head atlas in a folder of taught models")
    atlas.add_argument("folder", type=Path, metavar="FOLDER", help="with its request.json and texts")
    rivals.add(commands)
    for one in (pretrain, export, translate, translator):
        one.add_argument("config", type=Path, help="a TOML file; docs/TRAINING.md says what it holds")
    for one in (pretrain, translate):
        one.add_argument("--stop-after", type=float, metavar="MINUTES", help="stop then, to be resumed")
        one.add_argument(
            "--finish-in", type=float, metavar="MINUTES", help="the rate reaches 0 then, not at the last step"
        )
        one.add_argument(
            "--raise-to",
            type=float,
            metavar="SHARE",
            help="a finished run goes on, from this share of its highest rate",
        )
    for one in (export, translator):
        one.add_argument("folder", type=Path, help="where to write")
    export.add_argument("--pairs", type=int, default=2_000, help="pairs to score on, of each held-out source")
    export.add_argument("--further", type=Path, metavar="JSON", help="more scores, taken into the card as they are")
    translator.add_argument("--sentences", type=int, help="held-out sentences to score on; all of them if left out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
