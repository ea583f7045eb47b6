import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { ApiError, notFound } from './errors.ts';

declare module 'express-serve-static-core' {
  interface Locals {
    /** What a client sent, as validated by its endpoint; empty where the endpoint takes nothing. */
    input: { params: Record<string, unknown>; query: Record<string, unknown>; body: unknown };
  }
}

/** Validates what a request carries. @throws ApiError not_found for a path that cannot name anything */
export function validate({ params, query, body }: Endpoint): RequestHandler {
  return (req, res, next) => {
    const path = params?.safeParse(req.params);
    if (path?.success === false) throw notFound('address');
    res.locals.input = {
      params: path?.data ?? {},
      query: query ? parse(query, req.query) : {},
      body: body && parse(body, req.body),
    };
    next();
  };
}

/**
 * Validates what a client sent.
 * @throws ApiError invalid_request that names the first wrong field and what it must be; values are not repeated.
 */
function parse<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    throw new ApiError('invalid_request', `${issue.keys[0]}: is not a field that can be set here.`);
  }
  const field = issue?.path.join('.');
  throw new ApiError('invalid_request', field ? `${field}: ${issue?.message}.` : `${issue?.message}.`);
}

/** A JSON object with these fields; others are ignored. */
export function body<S extends z.ZodRawShape>(shape: S) {
  return z.object(shape, { error: 'Send a JSON object with the header Content-Type: application/json' });
}

const unicode = z
  .string({
    error: ({ input }) =>
      input === undefined ? 'is required' : Array.isArray(input) ? 'must be given once' : 'must be a string',
  })
  // Postgres and JSON encoders cannot carry these.
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be valid Unicode without NUL');

const atMost = (max: number) => z.string().max(max, `must have at most ${max} characters`);

/** A required string, taken as it is: credentials, tokens. */
export function exactText(max: number, min = 1) {
  const atLeast = min === 1 ? 'must not be empty' : `must have at least ${min} characters`;
  return unicode.pipe(atMost(max).min(min, atLeast)).meta({ override: { minLength: min, maxLength: max } });
}

/** A character that shows. */
const visible = /[^\s\p{Default_Ignorable_Code_Point}]/u;

/** Text that people type: trimmed, and not empty afterwards. */
export function text(max: number) {
  return unicode
    .transform((value) => value.trim())
    .pipe(atMost(max).regex(visible, 'must not be empty'))
    .meta({ override: { minLength: 1, maxLength: max } });
}

/** A query parameter whose blank value means that it is absent. */
export function optionalQueryText(max: number) {
  return unicode
    .transform((value) => value.trim() || undefined)
    .pipe(atMost(max).optional())
    .optional()
    .meta({ override: { maxLength: max } });
}

export const queryBoolean = z
  .enum(['true', 'false'], { error: 'must be true or false, given once' })
  .transform((value) => value === 'true')
  .meta({
    override: ({ jsonSchema }) => {
      jsonSchema.type = 'boolean';
      delete jsonSchema.enum;
    },
  });

/** A uuid as Postgres takes it, whatever its version bits. */
export const uuid = z
  .guid('must be a uuid')
  .transform((value) => value.toLowerCase())
  .meta({ examples: ['2f6c1f0e-8a51-4a0e-9b5e-6f1d1c0b7a42'] });
