// Tells the server when the page's theme is another than it was, so that figures are drawn in it; and the browser in
// which language the page is.

let known = ""; // the background that the page had when this was last called

/**
 * Streamlit's way in, at the mount and when the theme or the language changes.
 * @param {{parentElement: Element|ShadowRoot, data: {language: string},
 *   setTriggerValue: (name: string, value: string) => void}} component
 */
export default function themeChange({ parentElement, data, setTriggerValue }) {
  document.documentElement.lang = data.language;
  const el = parentElement instanceof ShadowRoot ? parentElement.host : parentElement;
  const now = getComputedStyle(el).getPropertyValue("--st-background-color").trim();
  if (known && now !== known) setTriggerValue("changed", now);
  known = now;
}
