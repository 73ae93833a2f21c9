// Colours that the components share: palettes, contrast, and Streamlit's theme.

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));

/**
 * The sequential palette, light to dark. Hues follow seaborn's "mako" (Michael Waskom, BSD), which is safe for
 * colour-blind readers; lightness is re-spaced to equal steps in OKLab (Björn Ottosson, 2020), and the light third is
 * greyed to make small weights unobtrusive. Dark themes reverse the palette.
 */
export const ANCHORS = [
  "#f9faf9",
  "#c6e0d1",
  "#88c7b2",
  "#51a8a8",
  "#3584a4",
  "#3e5a95",
  "#3e376f",
  "#2e1f3c",
  "#160b15",
];

/**
 * The diverging palette, from zero to most: blue below zero and orange above, distinct for colour-blind readers. Hues
 * are 250° and 55° in OKLCH with equal steps of lightness on both sides, so that equal sizes look equally strong.
 */
export const DIVERGING = {
  light: {
    below: ["#f8f8f8", "#acc7e4", "#6796c7", "#1666aa", "#003967"],
    above: ["#f8f8f8", "#dfbca6", "#bd835b", "#964c04", "#582a00"],
  },
  dark: {
    below: ["#1e1e1e", "#2a4c6e", "#427db8", "#70b3f7", "#d1e7ff"],
    above: ["#1e1e1e", "#663e22", "#ab6633", "#e89860", "#ffddc7"],
  },
};

/** Colours of heads from Okabe and Ito (2008), with yellow and black replaced for contrast with the background. */
export const HEAD_COLOURS = {
  light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#3BA3DB", "#7A4FBF", "#8C8C8C"],
  dark: ["#56B4E9", "#E69F00", "#2FC79A", "#E39CC4", "#F0E442", "#4C8FE0", "#B79CF2", "#B5B5B5"],
};

/** @param {string} text a CSS colour as Streamlit writes them @returns {[number, number, number]|null} */
export function parseColour(text) {
  const hex = /^#([0-9a-f]{3,8})$/i.exec(text.trim())?.[1];
  if (hex) {
    const wide = hex.length < 6 ? [...hex].map((digit) => digit + digit).join("") : hex;
    return /** @type {[number, number, number]} */ ([0, 2, 4].map((i) => parseInt(wide.slice(i, i + 2), 16)));
  }
  const parts = /^rgba?\(([^)]+)\)$/i.exec(text.trim())?.[1].split(/[\s,/]+/).slice(0, 3).map(Number);
  return parts?.length === 3 && parts.every(Number.isFinite) ? /** @type {[number, number, number]} */ (parts) : null;
}

/** Return the relative luminance (WCAG 2). @param {number[]} rgb */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Return the contrast ratio (WCAG 2). @param {number[]} one @param {number[]} other */
export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Return black or white, the more readable text colour on a ground (always at least 4.5 : 1). @param {number[]} rgb */
export const inkOn = (rgb) => (luminance(rgb) > 0.179 ? "#000000" : "#ffffff");

/**
 * Return a bold weight on the middle tones, on which no text colour has a contrast of 7 : 1 (WCAG's AAA).
 * @param {number[]} rgb
 */
export const weightOn = (rgb) => (contrast(rgb, /** @type {number[]} */ (parseColour(inkOn(rgb)))) < 7 ? 600 : 400);

/** Interpolate between anchors, (256, 3) bytes. @param {string[]} anchors */
function between(anchors) {
  const given = anchors.map((hex) => /** @type {number[]} */ (parseColour(hex)));
  const table = new Uint8ClampedArray(768);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (given.length - 1);
    const low = Math.min(Math.floor(at), given.length - 2);
    for (let c = 0; c < 3; c++) table[3 * i + c] = given[low][c] + (at - low) * (given[low + 1][c] - given[low][c]);
  }
  return table;
}

/** Return 256 colours from least to most, (256, 3) bytes. @param {boolean} dark */
export const ramp = (dark) => between(dark ? [...ANCHORS].reverse() : ANCHORS);

/** Return 256 colours from most negative to most positive, (256, 3) bytes. @param {boolean} dark */
export function divergingRamp(dark) {
  const { below, above } = DIVERGING[dark ? "dark" : "light"];
  return between([...below.slice(1).reverse(), ...above]);
}

/**
 * Return the level of a weight on the ramp, 0..255.
 * @param {number} weight @param {number} top @param {string} scale
 */
export function level(weight, top, scale) {
  const share = clamp(weight / top, 0, 1);
  return Math.round(255 * (scale === "sqrt" ? Math.sqrt(share) : share));
}

/**
 * Return the level of a number on the diverging ramp, 0..255; `top` is its end on both sides.
 * @param {number} value @param {number} top
 */
export const levelAround = (value, top) => Math.round(127.5 * (1 + clamp(value / top, -1, 1)));

/**
 * Return the level on the diverging ramp with a choice of scale; the square root emphasises small numbers.
 * @param {number} value @param {number} top @param {string} scale
 */
export function signedLevel(value, top, scale) {
  const share = clamp(value / top, -1, 1);
  return Math.round(127.5 * (1 + (scale === "sqrt" ? Math.sign(share) * Math.sqrt(Math.abs(share)) : share)));
}

/** @param {Uint8ClampedArray} table @param {number} at @returns {number[]} */
export const colourAt = (table, at) => [table[3 * at], table[3 * at + 1], table[3 * at + 2]];
/** @param {number[]} rgb */
export const css = (rgb) => `rgb(${rgb[0]}, ${rgb[1]}, ${rgb[2]})`;

/** Return levels as pixels, a uint32 each (little-endian RGBA). @param {Uint8ClampedArray} table */
export function pixels(table) {
  return Uint32Array.from(
    { length: 256 },
    (_, i) => (255 << 24) | (table[3 * i + 2] << 16) | (table[3 * i + 1] << 8) | table[3 * i],
  );
}

/**
 * Return colours and font from Streamlit's CSS variables.
 * @param {Element} el @param {boolean} [signed] whether values have signs: themeOf
 */
export function readTheme(el, signed = false) {
  const style = getComputedStyle(el);
  const read = (name, other) => parseColour(style.getPropertyValue(name)) ?? other;
  const background = read("--st-background-color", [255, 255, 255]);
  const dark = luminance(background) < 0.2;
  const text = read("--st-text-color", dark ? [250, 250, 250] : [49, 51, 63]);
  const accent = read("--st-primary-color", [255, 75, 75]);
  return themeOf(dark, background, text, accent, style.fontFamily || "sans-serif", signed);
}

/**
 * Return the colours of a page; for signed values the ramp is the diverging palette.
 * @param {boolean} dark @param {number[]} background @param {number[]} text @param {number[]} accent @param {string}
 * family @param {boolean} [signed]
 */
export function themeOf(dark, background, text, accent, family, signed = false) {
  const mix = (share) => css(text.map((channel, i) => Math.round(share * channel + (1 - share) * background[i])));
  const diverging = divergingRamp(dark);
  const table = signed ? diverging : ramp(dark);
  return {
    name: [dark, text, background, accent, signed].join(),
    signed,
    level: signed ? signedLevel : level,
    dark,
    family,
    background: css(background),
    text: css(text),
    muted: mix(0.74),
    hair: mix(0.22),
    accent: css(accent),
    ramp: table,
    diverging,
    palette: pixels(table),
    heads: HEAD_COLOURS[dark ? "dark" : "light"],
  };
}

/** Fonts with Chinese characters on common systems, used for characters that the fonts before them lack. */
const CHINESE = "'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC'";

/** Return the theme for exports, which is always light. @param {boolean} [signed] whether values have signs */
export const printTheme = (signed = false) =>
  themeOf(
    false,
    [255, 255, 255],
    [30, 32, 40],
    [214, 40, 40],
    `Helvetica, Arial, 'DejaVu Sans', ${CHINESE}, sans-serif`,
    signed,
  );
