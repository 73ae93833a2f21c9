// The lessons of a site: the list, and a lesson step by step. Texts and answers come from headlight/site_lessons.py.

import { h, save_as, setText } from "../shared/elements.js";
import { _ } from "../shared/words.js";
import { nodesOf, textOfTree } from "./markup.js";
import { createQuestion } from "./question.js";

/** @import { Selection } from "../explore/types.js" */
/** @import { LiveStep } from "./live_lesson.js" */
/** @import { Markup } from "./markup.js" */
/** @import { createProgress } from "./progress.js" */
/** @import { Question } from "./question.js" */
/** @typedef {{kind: "maps", file: string, words: boolean, selection: Partial<Selection>}} MapsView */
/** @typedef {{kind: "matrix", file: string, caption: string}} MatrixView */
/** @typedef {{kind: "guesses", text: string, title: string, guesses: [string, number][], caption: string}}
 *   GuessesView */
/**
 * @typedef {object} Step
 * @property {string} title
 * @property {Markup[]} text
 * @property {string[]} notes sentences about the view, such as what only the app can do
 * @property {MapsView|MatrixView|GuessesView|null} view
 * @property {LiveStep|null} live null if the view cannot show a reader's own text
 * @property {""|"view"|"results"|"strongest"} held the part of the view that the first answer opens
 * @property {Question|null} question
 */
/** @typedef {{name: string, title: string, steps: Step[]}} Lesson made by headlight/site_lessons.py */
/**
 * @typedef {{name: string, title: string, group: string, minutes: string, audience: string, about: Markup[],
 *   file: string, asked: number[]}} LessonEntry with the steps that ask a question
 */
/** @typedef {ReturnType<typeof createProgress>} Progress */

/** Return the element of a button. @param {string} text @param {() => void} act @param {string} [look] */
const button = (text, act, look = "choice") => h("button", { type: "button", class: look, onclick: act }, text);

/**
 * Return the elements of the list of lessons.
 * @param {LessonEntry[]} lessons @param {Progress} progress @param {(name: string, step: number) => void} go
 */
export function lessonList(lessons, progress, go) {
  let group = "";
  return lessons.flatMap((lesson) => {
    const heading = lesson.group === group ? [] : [h("h2", {}, lesson.group)];
    group = lesson.group;
    const place = progress.place(lesson.name);
    const sheet = _("Worksheet: {answered} of {asked} answered", {
      answered: progress.count(lesson.name, lesson.asked),
      asked: lesson.asked.length,
    });
    const about = [lesson.minutes, lesson.audience, sheet].filter(Boolean).join(" · ");
    const begin = button(place ? _("Go on") : _("Begin"), () => go(lesson.name, place));
    begin.setAttribute("aria-label", `${begin.textContent}: ${lesson.title}`);
    const lines = [h("h3", {}, lesson.title), h("p", { class: "quiet" }, about), ...nodesOf(lesson.about), begin];
    return [...heading, h("article", {}, ...lines)];
  });
}

/**
 * Return the element of a step, and the function that tells its question about a selection in the view.
 * @param {Lesson} lesson @param {number} at @param {Progress} progress
 * @param {{go: (name: string|null, step: number) => void, answered: (first: boolean) => void}} hooks
 */
export function lessonStep(lesson, at, progress, { go, answered }) {
  const { name, steps } = lesson;
  const step = steps[at];
  const [back, next] = [button(_("Back"), () => go(name, at - 1)), button(_("Next"), () => go(name, at + 1))];
  [back.disabled, next.disabled] = [at === 0, at === steps.length - 1];
  const count = h("span", {}, _("Step {at} of {all}", { at: at + 1, all: steps.length }));
  const bar = h("div", { class: "bar" }, back, count, next, button(_("All lessons"), () => go(null, 0), "choice bare"));
  const question = step.question && createQuestion(step.question, progress.answer(name, at), (changes) => {
    const first = progress.answer(name, at).tries === 0;
    progress.note(name, at, changes);
    setText(summary, worksheetLabel());
    answered(first && Boolean(changes.tries));
    return progress.answer(name, at);
  });
  const asked = steps.flatMap((one, number) => (one.question ? [number] : []));
  const worksheetLabel = () =>
    _("Worksheet: {answered} of {asked} answered", {
      answered: progress.count(name, asked),
      asked: asked.length,
    });
  const summary = h("summary", {}, worksheetLabel());
  const worksheet = h(
    "details",
    {},
    summary,
    h("p", { class: "quiet" }, _("Answers stay in this browser.")),
    h(
      "div",
      { class: "bar" },
      button(_("Save the worksheet"), () => save_as("headlight-worksheet.md", worksheetFile(lesson, progress))),
      button(_("Forget my answers"), () => {
        progress.forget(name);
        go(name, at);
      }),
    ),
  );
  const el = h("div", {}, h("h2", {}, lesson.title), bar, h("h3", {}, step.title), ...nodesOf(step.text));
  if (question) el.append(question.el);
  el.append(...step.notes.map((note) => h("p", { class: "quiet" }, note)));
  return { el, worksheet, follow: question?.follow ?? (() => {}) };
}

/** Return the answers to a lesson as a Markdown file. @param {Lesson} lesson @param {Progress} progress */
function worksheetFile({ name, title, steps }, progress) {
  return new Blob([worksheetText({ name, title, steps }, progress)], { type: "text/markdown" });
}

/** Return the answers to a lesson in Markdown, as quotations. @param {Lesson} lesson @param {Progress} progress */
export function worksheetText({ name, title, steps }, progress) {
  const lines = [`# ${title}`, ""];
  steps.forEach(({ question, title: heading }, at) => {
    if (!question) return;
    const { text, right } = progress.answer(name, at);
    const verdict = right === null ? "" : right ? _("Right.") : _("Not right.");
    lines.push(`## ${at + 1}. ${heading}`, "", textOfTree(question.ask).trim(), "");
    lines.push(...(text || "–").split("\n").map((line) => `> ${line}`), "", ...(verdict ? [verdict, ""] : []));
  });
  return lines.join("\n");
}

/** Return the elements of the likeliest tokens of a blank. @param {GuessesView} view */
export function guessBars({ text, title, guesses, caption }) {
  const most = Math.max(...guesses.map(([, share]) => share), 1e-9);
  const rows = guesses.map(([piece, share]) => {
    const bar = h("span", { class: "share" });
    bar.style.width = `${Math.round((100 * share) / most)}%`;
    const track = h("span", { class: "track", "aria-hidden": "true" }, bar);
    return h("li", {}, h("span", { dir: "auto" }, piece), track, h("span", {}, `${(100 * share).toFixed(1)}%`));
  });
  return [
    h("p", { class: "said", dir: "auto" }, text),
    h("h3", {}, title),
    h("ol", { class: "guesses" }, ...rows),
    h("p", { class: "quiet" }, caption),
  ];
}
