import type { Request, RequestHandler } from 'express';
import type { z } from 'zod';
import { type Endpoint, fieldsOf } from '../endpoint.ts';
import { ApiError, notAnId } from '../errors.ts';
import { isBlank } from '../model/fields.ts';

/** Validates a request. @throws ApiError not_found for a path that cannot name a resource */
export function validate(endpoint: Endpoint): RequestHandler {
  const { params, query, headers, body, resource = 'path' } = endpoint;
  const fields = fieldsOf(endpoint);
  return (req, res, next) => {
    const path = params?.safeParse(req.params);
    if (path?.success === false) throw notAnId(resource);
    const sentQuery = query ? withoutBlank(req.query) : {};
    if (query) rejectBrackets(sentQuery, query);
    res.locals.input = {
      params: path?.data ?? {},
      query: query ? parse(query, sentQuery, fields) : {},
      headers: headers ? parse(headers, sent(req, Object.keys(headers.shape)), fields) : {},
      body: body && parse(body, req.body, fields),
    };
    next();
  };
}

/** Returns these headers by the given names, because Node's are in lower case. */
const sent = (req: Request, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, req.get(name)]));

/** Removes blank parameters, because forms and generated clients send them for values that are not set. */
function withoutBlank(query: object) {
  const given = Object.entries(query).map(([name, value]) => {
    const values = [value].flat().filter((each) => !isBlank(each));
    return [name, values.length > 1 ? values : values[0]];
  });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Rejects tag[any]=a, because a response without the filter would be wrong. */
function rejectBrackets(query: object, { shape }: z.ZodObject) {
  for (const key of Object.keys(query)) {
    const [name = '', ...brackets] = key.split('[', 2);
    if (brackets.length > 0 && Object.hasOwn(shape, name))
      throw new ApiError('invalid_request', `${name}: must be sent without brackets, or with [].`, { field: name });
  }
}

/** Replaces zod's own words for an entry of a list that is no object. Schemas have messages for all other faults. */
const error: z.core.$ZodErrorMap = ({ code, expected }) =>
  code === 'invalid_type' && expected === 'object' ? 'must be an object' : undefined;

/** Validates one part. @throws ApiError that names the first wrong field, if it is one of `fields`, but no value */
function parse<S extends z.ZodType>(schema: S, input: unknown, fields: readonly string[]): z.output<S> {
  const result = schema.safeParse(input, { error });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const isUnknown = issue?.code === 'unrecognized_keys';
  const path = [...(issue?.path ?? []), ...(isUnknown ? issue.keys.slice(0, 1) : [])];
  const fault = isUnknown ? 'cannot be set here' : issue?.message;
  const field = fields.find((name) => name === path[0]);
  throw new ApiError('invalid_request', `${path.length > 0 ? `${path.join('.')}: ` : ''}${fault}.`, { field });
}
