/** Parses a text. Returns null unless it is a JSON object or list. */
export function parseJson<T>(text: string | null): T | null {
  try {
    const value = JSON.parse(text ?? 'null');
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
