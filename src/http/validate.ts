import type { Request, RequestHandler } from 'express';
import type { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { ApiError, notFound } from './errors.ts';

declare module 'express-serve-static-core' {
  interface Locals {
    /** What a client sent, as validated by its endpoint; empty where the endpoint takes nothing. */
    input: Record<'params' | 'query' | 'headers', Record<string, unknown>> & { body: unknown };
  }
}

/** Validates what a request carries. @throws ApiError not_found for a path that cannot name anything */
export function validate({ params, query, headers, body }: Endpoint): RequestHandler {
  return (req, res, next) => {
    const path = params?.safeParse(req.params);
    if (path?.success === false) throw notFound('path');
    res.locals.input = {
      params: path?.data ?? {},
      query: query ? parse(query, req.query) : {},
      headers: headers ? parse(headers, sent(req, Object.keys(headers.shape))) : {},
      body: body && parse(body, req.body),
    };
    next();
  };
}

/** These headers of a request, by the names as they are given: Node's own are in lower case. */
const sent = (req: Request, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, req.get(name)]));

/**
 * Validates what a client sent.
 * @throws ApiError invalid_request that names the first wrong field and what it must be; values are not repeated.
 */
function parse<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    throw new ApiError('invalid_request', `${issue.keys[0]}: cannot be set here.`);
  }
  const path = issue?.path ?? [];
  if (path.length === 0) throw new ApiError('invalid_request', `${issue?.message}.`);
  throw new ApiError('invalid_request', `${path.join('.')}: ${issue?.message}.`, { field: String(path[0]) });
}
