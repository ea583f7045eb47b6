import { isUtf8 } from 'node:buffer';
import querystring from 'node:querystring';
import { ApiError } from '../errors.ts';

/** Maximum number of query parameters. No endpoint needs more, because lists have at most 100 items. */
const maxParameters = 400;

/** Returns the bytes of percent-encoded text. Keeps invalid escapes. Node has read each raw byte as a character. */
const bytesOf = (text: string) =>
  Buffer.from(
    text.replace(/%([\da-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  );

/**
 * Parses the query of an address. Collects repeated parameters into arrays. Reads ids[]=a and ids[0]=a as ids=a,
 * because some clients send these.
 * @throws ApiError invalid_request for too many parameters, and for text that is not UTF-8
 */
export function parseQuery(text: string | null) {
  const query: querystring.ParsedUrlQuery = Object.create(null);
  if (text === null) return query;
  if (text.split('&', maxParameters + 1).length > maxParameters)
    throw new ApiError('invalid_request', `Send at most ${maxParameters} query parameters.`);
  if (!isUtf8(bytesOf(text))) throw new ApiError('invalid_request', 'The query is not valid UTF-8.');
  const decode = (part: string) => bytesOf(part).toString();
  const given = querystring.parse(text, '&', '=', { maxKeys: 0, decodeURIComponent: decode });
  const byName = Map.groupBy(Object.entries(given), ([key]) => key.replace(/\[\d*\]$/, ''));
  for (const [name, entries] of byName) {
    const values = entries.flatMap(([, value]) => value ?? []);
    query[name] = values.length === 1 ? values[0] : values;
  }
  return query;
}
