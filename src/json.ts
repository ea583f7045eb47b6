/**
 * A JSON value as text. What Postgres has built is sent as it is: parsing a list only to write it again would take as
 * long as all else that is done for it.
 */
export class Json {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A T that is, or whose fields are, JSON already. */
export type Payload<T> = Json | { [Field in keyof T]: T[Field] | Json };

/** The JSON of a payload. */
export function textOf(payload: Payload<object>): string {
  if (payload instanceof Json) return payload.text;
  const fields = Object.entries(payload as Record<string, unknown>).map(
    ([name, value]) => `"${name}":${value instanceof Json ? value.text : JSON.stringify(value)}`,
  );
  return `{${fields.join(',')}}`;
}
