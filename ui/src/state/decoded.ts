/** A text with its `%` escapes replaced; undefined if they are not UTF-8. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
