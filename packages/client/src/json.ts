/** Returns the object or list in a JSON text; null if the text is none. */
export function parseJson<T>(text: string | null): T | null {
  try {
    const value = JSON.parse(text ?? 'null');
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
