// A reader's answers to the lessons of a site. They stay in this browser, in its storage for the site's path.

/**
 * @typedef {object} StepAnswer
 * @property {unknown} answer null before the first answer
 * @property {string} text the answer as shown
 * @property {boolean|null} right null if the answer was not checked
 * @property {number} tries
 * @property {number} hints number of hints taken
 * @property {boolean} revealed
 */
/** @typedef {{place: number, answers: Record<string, StepAnswer>}} LessonProgress */
/** @typedef {Pick<Storage, "getItem"|"setItem">} Store */

/** @type {StepAnswer} */
const NO_ANSWER = { answer: null, text: "", right: null, tries: 0, hints: 0, revealed: false };

/** Return whether the text after the answer may be shown. @param {StepAnswer} found */
export const isOver = ({ revealed, right, tries }) => revealed || right === true || (tries > 0 && right === null);

/**
 * Return the answers of all lessons. Without storage, or if it is full, they last until the page is closed.
 * @param {string} path the path of the site @param {Store|undefined} storage
 */
export function createProgress(path, storage) {
  const key = `headlight lessons ${path}`;
  /** @type {Record<string, LessonProgress>} */
  let lessons = {};
  try {
    const known = JSON.parse(storage?.getItem(key) ?? "{}");
    if (known && typeof known === "object" && !Array.isArray(known)) lessons = known;
  } catch { /* damaged, so begin again */ }
  /** @param {string} name @returns {LessonProgress} */
  function of(name) {
    const known = Object.hasOwn(lessons, name) ? lessons[name] : null;
    const answers = known?.answers && typeof known.answers === "object" ? known.answers : {};
    return { place: Number.isInteger(known?.place) ? Number(known?.place) : 0, answers };
  }
  /** @param {string} name @param {Partial<LessonProgress>} changes */
  function store(name, changes) {
    lessons = { ...lessons, [name]: { ...of(name), ...changes } };
    try {
      storage?.setItem(key, JSON.stringify(lessons));
    } catch { /* the storage is full or forbidden */ }
  }
  return {
    /** @param {string} name */
    place: (name) => of(name).place,
    /** @param {string} name @param {number} step */
    setPlace: (name, step) => store(name, { place: step }),
    /** @param {string} name @param {number} step @returns {StepAnswer} */
    answer: (name, step) => ({ ...NO_ANSWER, ...of(name).answers[step] }),
    /** @param {string} name @param {number} step @param {Partial<StepAnswer>} changes */
    note(name, step, changes) {
      const { answers } = of(name);
      store(name, { answers: { ...answers, [step]: { ...NO_ANSWER, ...answers[step], ...changes } } });
    },
    /** @param {string} name */
    forget: (name) => store(name, { answers: {} }),
    /** Return the number of these steps with an answer, right or wrong. @param {string} name @param {number[]} steps */
    count(name, steps) {
      return steps.filter((step) => ({ ...NO_ANSWER, ...of(name).answers[step] }).tries > 0).length;
    },
  };
}
