import { z } from 'zod';

const notAnObject = 'Send a JSON object with the header Content-Type: application/json';

/** JSON object with these fields; others are ignored. */
export function body<S extends z.ZodRawShape>(shape: S) {
  return z.object(shape, { error: notAnObject });
}

const unicode = z
  .string({
    error: ({ input }) =>
      input === undefined ? 'is required' : Array.isArray(input) ? 'must be given once' : 'must be a string',
  })
  // Postgres rejects NUL, and JSON encoders reject lone surrogates.
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be valid Unicode without NUL');

const atMost = (max: number) => z.string().max(max, `must have at most ${max} characters`);

/** Pattern that describes `unicode` in JSON Schema. */
const withoutNul = '^[^\\u0000]*$';

/** Required string that is not trimmed, for credentials and tokens. @param fold conversion before the checks */
export function exactText(max: number, min = 1, fold = (value: string) => value) {
  const atLeast = min === 1 ? 'must not be empty' : `must have at least ${min} characters`;
  return unicode
    .transform(fold)
    .pipe(atMost(max).min(min, atLeast))
    .meta({ override: { minLength: min, maxLength: max, pattern: withoutNul } });
}

/** Optional field of a body. Null counts as absent, because many encoders send it. */
export const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);

const visible = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/** Tells whether a character is white space in JavaScript or Postgres. */
const isWhiteSpace = (character: string) => /\s/.test(character) || '\x1C\x1D\x1E\x1F\x85\u180E'.includes(character);

function trim(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isWhiteSpace(value.charAt(start))) start++;
  while (start < end && isWhiteSpace(value.charAt(end - 1))) end--;
  return value.slice(start, end);
}

/** Text that people type. It is trimmed, and must not be empty afterwards. */
export function text(max: number) {
  return unicode
    .transform(trim)
    .pipe(atMost(max).regex(visible, 'must not be empty'))
    .meta({ override: { minLength: 1, maxLength: max, pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$' } });
}

/** Text with ASCII digits, and without the invisible characters that keyboards and address books add to numbers. */
export const plainText = (max: number) => text(max).transform((value) => withAsciiDigits(withoutInvisible(value)));

/** Removes characters without a glyph, such as directional marks and zero-width spaces. */
export const withoutInvisible = (value: string) => value.replace(/\p{Default_Ignorable_Code_Point}/gu, '');

/** Replaces decimal digits of all scripts. Unicode has them in runs of ten, which begin with the zero. */
function withAsciiDigits(value: string): string {
  return value.replace(/\p{Nd}/gu, (digit) => {
    const codePoint = digit.codePointAt(0) as number;
    let zero = codePoint;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
    return String((codePoint - zero) % 10);
  });
}

/** Tells whether a query parameter is blank, and so counts as absent. */
export const isBlank = (value: unknown) => typeof value === 'string' && trim(value) === '';

export function optionalQueryText(max: number) {
  return unicode
    .transform(trim)
    .pipe(atMost(max))
    .optional()
    .meta({ override: { maxLength: max, pattern: withoutNul } });
}

/** Boolean in upper or lower case, because some languages print True or TRUE. */
export const queryBoolean = z
  .string({ error: 'must be given once' })
  .transform((value) => trim(value).toLowerCase())
  .pipe(z.enum(['true', 'false'], { error: 'must be true or false' }))
  .transform((value) => value === 'true')
  .meta({
    override: ({ jsonSchema }) => {
      jsonSchema.type = 'boolean';
      delete jsonSchema.enum;
    },
  });

const queryNumber = (pattern: RegExp, min: number, max: number, what: string) =>
  z
    .string({ error: 'must be given once' })
    .transform((value) => (pattern.test(trim(value)) ? Number(value) : Number.NaN))
    .refine((value) => value >= min && value <= max, `must be ${what} from ${min} to ${max}`);

/** Query parameter `limit` of lists with pages. Takes 10.0, which languages with one type of number print. */
export const pageSize = queryNumber(/^\d{1,3}(\.0{1,6})?$/, 1, 100, 'a whole number').meta({
  override: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
});

/** UUID of any version, as Postgres accepts it. */
export const uuid = z
  .guid('must be a UUID')
  .transform((value) => value.toLowerCase())
  .meta({ examples: ['50000000-0000-4000-8000-000000000001'] });

/** Query parameter of seconds, up to a day. */
export const querySeconds = queryNumber(/^\d{1,5}(\.\d{1,6})?$/, 0, 86_400, 'a number of seconds').meta({
  override: { type: 'number', minimum: 0, maximum: 86_400 },
});

/** List of ids. Repetitions are removed, the order is kept. */
export const uuids = (max: number) =>
  z
    .array(uuid, 'must be a list of ids')
    .min(1, 'must have at least one id')
    .max(max, `must have at most ${max} ids`)
    .transform((ids) => [...new Set(ids)]);

/** Query parameter with ids, separated by commas or repeated, because generated clients differ. */
export const queryUuids = (max: number) => z.preprocess((value) => [value].flat().join().split(','), uuids(max));

export const repeatable = (max: number) =>
  z.preprocess((value) => [value].flat(), z.array(text(100)).max(max, `must be given at most ${max} times`));
