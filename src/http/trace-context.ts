import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Trace } from '../shared/request-context.ts';

/** Matches version, trace, parent and flags. Later versions may append fields, 00 may not. Ids of zeros are invalid. */
const wellFormed = /^(?!ff)(?!00.{53}.)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-([\da-f]{2})(-|$)/;

/** Returns 32 random hex digits. randomUUID has a pool of random bytes, so it is faster than randomBytes. */
const randomDigits = () => randomUUID().replaceAll('-', '');

/** Continues the trace of these headers, or starts one if they are missing or malformed. */
export function traceOf(traceparent: string | undefined, tracestate: string | undefined): Trace {
  const [, given, flags = '00'] = wellFormed.exec(traceparent ?? '') ?? [];
  const id = given ?? randomDigits();
  const span = randomDigits().slice(16);
  const sampled = Number.parseInt(flags, 16) & 1; // the only flag of version 00
  return {
    id,
    traceparent: `00-${id}-${span}-0${sampled}`,
    // Passed on unchanged, up to the 512 bytes that section 3.3.1.5 of the standard requires.
    tracestate: given !== undefined && (tracestate ?? '').length <= 512 ? tracestate : undefined,
  };
}

/** Records the trace of a request, for its line in the log and for its calls to Supabase. */
export const joinTrace: RequestHandler = ({ headers }, res, next) => {
  const only = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined);
  res.locals.trace = traceOf(only(headers['traceparent']), only(headers['tracestate']));
  next();
};
