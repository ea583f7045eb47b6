import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Trace } from '../request-context.ts';

declare module 'express-serve-static-core' {
  interface Locals {
    trace: Trace;
  }
}

/** Version, trace, parent, flags. Versions to come may add more behind them; 00 has nothing more. Ids of zeros are none. */
const wellFormed =
  /^(?!ff)(?!00.{53}.)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-([\da-f]{2})(-|$)/;

/** 32 at random, by Node's own supply of randomness: asking for more each time takes 8 µs and a buffer. */
const randomDigits = () => randomUUID().replaceAll('-', '');

/** Continues the trace of these headers, or starts one where there is none or it is malformed. */
export function traceOf(traceparent: string | undefined, tracestate: string | undefined): Trace {
  const [, given, flags = '00'] = wellFormed.exec(traceparent ?? '') ?? [];
  const id = given ?? randomDigits();
  const span = randomDigits().slice(16);
  const sampled = Number.parseInt(flags, 16) & 1; // the one flag of version 00; nothing is recorded here
  return {
    id,
    traceparent: `00-${id}-${span}-0${sampled}`,
    // As it is: it belongs to others. 512 bytes are what everybody must pass on (section 3.3.1.5 there).
    tracestate: given !== undefined && (tracestate ?? '').length <= 512 ? tracestate : undefined,
  };
}

/** Records the trace of a request, for its line in the log and for its calls to Supabase. */
export const joinTrace: RequestHandler = ({ headers }, res, next) => {
  const only = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined);
  res.locals.trace = traceOf(only(headers['traceparent']), only(headers['tracestate']));
  next();
};
