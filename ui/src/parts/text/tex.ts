/**
 * A formula as MathML, which the browser draws by itself: no fonts, no styles. Loaded when the first formula is shown.
 */

import katex from "katex";

const MOST = 5000; // characters

/** The MathML of a formula, or undefined if it is none that can be drawn. */
export function mathml(tex: string, display: boolean): string | undefined {
  if (tex.length > MOST) return undefined;
  try {
    const made = katex.renderToString(tex, {
      output: "mathml",
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: "ignore",
      maxExpand: 200,
      maxSize: 20,
    });
    return made.replace(/<annotation[^>]*>[^]*?<\/annotation>/g, ""); // the source once more
  } catch {
    return undefined;
  }
}
