// A question of a lesson: its control, its check, and the feedback. lessons/answer_key.py defines the right answer.

import { h, setText } from "../shared/elements.js";
import { _ } from "../shared/words.js";
import { nodesOf } from "./markup.js";
import { isOver } from "./progress.js";

/** @import { Markup } from "./markup.js" */
/** @import { StepAnswer } from "./progress.js" */
/** @typedef {string|number|number[]} Answer a key, a word or a number as typed, the index of a token, [layer, head] */
/**
 * @typedef {object} Question made by headlight/site_lessons.py
 * @property {"choice"|"number"|"word"|"head"|"token"|"text"} kind
 * @property {Markup[]} ask
 * @property {{key: string, text: string}[]} choices
 * @property {number} layers of the view
 * @property {number} heads
 * @property {string[]} keys labels of the cells, for a token
 * @property {[number, number][]} spans tokens of each cell
 * @property {boolean} checks false if any answer is kept
 * @property {Right|null} right null if it could not be computed
 * @property {string} said the right answer with its numbers
 * @property {Markup[][]} hints
 * @property {Markup[]} reveal
 */
/**
 * @typedef {object} Right
 * @property {Answer[]} answers
 * @property {number} tolerance of a number
 * @property {boolean} is_share true if a percentage may be typed without its sign
 * @property {boolean} is_percentage true if the answer is in per cent
 */
/** @typedef {{layer: number, head: number, token: number|null}} Followed a selection in the view */
/** @typedef {{el: HTMLElement, value: () => Answer|null, follow: (at: Followed) => void}} Control */

const [QUOTES, FINAL] = ["\"'`“”‘’«»‹›「」『』 ", ".,;:!?。、"];
const [OPENING, CLOSING] = [new RegExp(`^[${QUOTES}]+`), new RegExp(`[${FINAL}${QUOTES}]+$`)];

/**
 * Return a typed word in the form in which words are compared: in capitals, without quotes, final punctuation, brackets
 * around a token and a leading article, unless nothing else is left. The rule is that of `bare_word` in
 * attention/head_names.py.
 * @param {string} text
 */
export function normalizeWord(text) {
  const plain = text.normalize("NFKC").toUpperCase().replace(/\s+/g, " ").trim();
  const word = plain.replace(OPENING, "").replace(CLOSING, "");
  const special = word.match(/^(?:\[(\S+)\]|<(\S+)>)$/);
  if (special) return special[1] ?? special[2];
  return /^(THE|AN?) /.test(word) ? word.replace(/^\S+ /, "").replace(OPENING, "") : word || plain;
}

/**
 * Return whether an answer is right; words are compared by `normalizeWord`.
 * @param {Right} right @param {Question["kind"]} kind @param {Answer} given
 */
export function accepts({ answers, tolerance, is_share, is_percentage }, kind, given) {
  if (kind === "number") {
    const { value, sign } = numberOf(String(given)) ?? { value: Number.NaN, sign: false };
    const right = Number(answers[0]);
    const isClose = (/** @type {number} */ number) => Math.abs(number - right) <= tolerance + 1e-9;
    if (sign) return (!is_percentage && isClose(value / 100)) || ((is_percentage || right > 1) && isClose(value));
    return isClose(value) || (is_share && value > 1 && value <= 100 && isClose(value / 100));
  }
  const plain = (/** @type {Answer} */ answer) =>
    typeof answer === "string" ? normalizeWord(answer) : JSON.stringify(answer);
  return answers.some((answer) => plain(answer) === plain(given));
}

/**
 * Return a typed number, such as 0.5, 0,5, 1/2 or 50%, and whether it has a percent sign; null if it is no number.
 * @param {string} typed
 */
export function numberOf(typed) {
  const plain = typed.normalize("NFKC").replace(",", ".").replace("−", "-").trim();
  const number = plain.replace(/\s*%$/, "");
  const parts = number.split("/").map((part) => part.trim());
  if (parts.length > 2 || parts.includes("")) return null;
  const value = Number(parts[0]) / Number(parts[1] ?? 1);
  return Number.isFinite(value) ? { value, sign: number !== plain } : null;
}

/** Return an answer as text. @param {Question} question @param {Answer} answer */
export function answerText({ kind, choices, keys }, answer) {
  if (Array.isArray(answer)) return _("head {layer}-{head}", { layer: answer[0], head: answer[1] });
  if (kind === "choice") return choices.find(({ key }) => key === answer)?.text ?? String(answer);
  return kind === "token" ? keys[Number(answer)] ?? String(answer) : String(answer);
}

/** @param {number} count @param {(at: number) => string} name @param {number|null} chosen @param {string} label */
function numbered(count, name, chosen, label) {
  const options = Array.from({ length: count }, (_none, at) => h("option", { value: at }, name(at)));
  const el = h("select", { "aria-label": label }, ...options);
  el.selectedIndex = chosen ?? -1;
  return el;
}

/** Return the control for a question. @param {Question} question @param {unknown} before @returns {Control} */
export function createControl(question, before) {
  const label = _("Your answer");
  if (question.kind === "choice") return choiceControl(question, before, label);
  if (question.kind === "head") return headControl(question, before);
  if (question.kind === "token") {
    const at = typeof before === "number" ? before : null;
    const el = numbered(question.keys.length, (one) => `${one} · ${question.keys[one]}`, at, label);
    return {
      el: h("label", { class: "answer" }, label, el),
      value: () => (el.selectedIndex < 0 ? null : el.selectedIndex),
      follow({ token }) {
        const cell = token === null ? -1 : question.spans.findIndex(([start, end]) => start <= token && token < end);
        if (cell >= 0) el.selectedIndex = cell;
      },
    };
  }
  const el = question.kind === "text"
    ? h("textarea", { rows: 4, maxlength: 2000 })
    : h("input", { type: "text", maxlength: 200, inputmode: question.kind === "number" ? "decimal" : "text" });
  el.value = before == null ? "" : String(before);
  return {
    el: h("label", { class: "answer" }, label, el),
    value: () => el.value.trim() || null,
    follow() {},
  };
}

/** @param {Question} question @param {unknown} before @param {string} label @returns {Control} */
function choiceControl({ choices }, before, label) {
  const fields = choices.map(({ key }) => {
    const field = h("input", { type: "radio", name: "lesson-answer", value: key });
    field.checked = key === before;
    return field;
  });
  const rows = choices.map(({ text }, at) => h("label", {}, fields[at], text));
  return {
    el: h("fieldset", { class: "answer" }, h("legend", {}, label), ...rows),
    value: () => fields.find((field) => field.checked)?.value ?? null,
    follow() {},
  };
}

/** @param {Question} question @param {unknown} before @returns {Control} */
function headControl({ layers, heads }, before) {
  const [layer, head] = Array.isArray(before) ? before : [0, 0];
  const pick = numbered(layers, String, layer, _("Layer"));
  const other = numbered(heads, String, head, _("Head"));
  return {
    el: h("div", { class: "answer" }, h("label", {}, _("Layer"), pick), h("label", {}, _("Head"), other)),
    value: () => [pick.selectedIndex, other.selectedIndex],
    follow(at) {
      [pick.selectedIndex, other.selectedIndex] = [at.layer, at.head];
    },
  };
}

/**
 * Create the element of a question. `note` stores changes of the answer and returns the stored answer.
 * @param {Question} question @param {StepAnswer} found @param {(changes: Partial<StepAnswer>) => StepAnswer} note
 */
export function createQuestion(question, found, note) {
  const control = createControl(question, found.answer);
  const notice = h("div", { role: "status" });
  const bar = h("div", { class: "bar" });
  const el = h("section", { class: "question" }, h("h3", {}, _("Question")), ...nodesOf(question.ask));
  el.append(control.el, bar, notice);

  function check() {
    const answer = control.value();
    if (answer === null) return setText(notice, _("Answer first: pick or type."));
    if (question.kind === "number" && numberOf(String(answer)) === null) {
      return setText(
        notice,
        _("“{said}” is not a number such as {example}.", { said: String(answer), example: "0.25, 25%" }),
      );
    }
    const right = question.right && accepts(question.right, question.kind, answer);
    found = note({ answer, text: answerText(question, answer), tries: found.tries + 1, right });
    draw();
  }
  /** @param {string} text @param {() => void} act @param {string} [look] */
  const button = (text, act, look = "choice") => h("button", { type: "button", class: look, onclick: act }, text);
  function draw() {
    const left = question.hints.length - found.hints;
    bar.replaceChildren(button(question.checks ? _("Check") : _("Keep my answer"), check, "choice main"));
    if (left > 0) {
      const take = button(_("A hint"), () => {
        found = note({ hints: found.hints + 1 });
        draw();
      });
      take.title = _("{left} left", { left });
      bar.append(take);
    }
    if (found.tries && !isOver(found)) {
      bar.append(button(_("Show the answer"), () => {
        found = note({ revealed: true });
        draw();
      }));
    }
    const hints = question.hints.slice(0, found.hints).map((hint) => h("div", { class: "hint" }, ...nodesOf(hint)));
    notice.replaceChildren(...hints, ...outcome());
  }
  function outcome() {
    const lines = [];
    if (found.right === true) lines.push(_("Right."));
    else if (found.right === false) {
      lines.push(isOver(found) ? _("Not right.") : _("Not right yet. Try again, or see the answer."));
    } else if (found.tries && found.right === null) lines.push(_("Kept for your worksheet."));
    if (isOver(found) && question.said) lines.push(question.said);
    const after = isOver(found) ? nodesOf(question.reveal) : [];
    return [...lines.map((line) => h("p", {}, line)), ...after];
  }
  draw();
  return { el, follow: control.follow };
}
